#include "book.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// Each page has three lines here and one line in the table below, as the files of page.c.
#define BYTES static const unsigned char

BYTES book_GettingStarted[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/GettingStarted.md"
};
BYTES book_Accounts[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Accounts.md"
};
BYTES book_Search[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Search.md"
};
BYTES book_Upstreams[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Upstreams.md"
};
BYTES book_Lists[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Lists.md"
};
BYTES book_Observers[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Observers.md"
};
BYTES book_Receipts[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Receipts.md"
};
BYTES book_Delivery[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Delivery.md"
};
BYTES book_Mirror[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Mirror.md"
};
BYTES book_WebPage[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/WebPage.md"
};
BYTES book_Offline[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Offline.md"
};
BYTES book_History[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/History.md"
};
BYTES book_Portability[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Portability.md"
};
BYTES book_Sync[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Sync.md"
};
BYTES book_CouchbaseLite[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/CouchbaseLite.md"
};
BYTES book_Replication[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Replication.md"
};
BYTES book_Queries[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Queries.md"
};
BYTES book_Errors[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Errors.md"
};
BYTES book_Operations[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Operations.md"
};
BYTES book_Audit[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Audit.md"
};
BYTES book_Backup[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Backup.md"
};
BYTES book_Cluster[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Cluster.md"
};
BYTES book_Database[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Database.md"
};
BYTES book_Moving[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Moving.md"
};
BYTES book_Reliability[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Reliability.md"
};
BYTES book_Security[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/Security.md"
};
BYTES book_HostileInput[] = {
#embed "../HotelBookmarks/HotelBookmarks.docc/HostileInput.md"
};

#define FILE(name, bytes) {name, bytes, sizeof(bytes)}

const cembedded_page_file cembedded_book[] = {
    FILE("GettingStarted.md", book_GettingStarted),
    FILE("Accounts.md", book_Accounts),
    FILE("Search.md", book_Search),
    FILE("Upstreams.md", book_Upstreams),
    FILE("Lists.md", book_Lists),
    FILE("Observers.md", book_Observers),
    FILE("Receipts.md", book_Receipts),
    FILE("Delivery.md", book_Delivery),
    FILE("Mirror.md", book_Mirror),
    FILE("WebPage.md", book_WebPage),
    FILE("Offline.md", book_Offline),
    FILE("History.md", book_History),
    FILE("Portability.md", book_Portability),
    FILE("Sync.md", book_Sync),
    FILE("CouchbaseLite.md", book_CouchbaseLite),
    FILE("Replication.md", book_Replication),
    FILE("Queries.md", book_Queries),
    FILE("Errors.md", book_Errors),
    FILE("Operations.md", book_Operations),
    FILE("Audit.md", book_Audit),
    FILE("Backup.md", book_Backup),
    FILE("Cluster.md", book_Cluster),
    FILE("Database.md", book_Database),
    FILE("Moving.md", book_Moving),
    FILE("Reliability.md", book_Reliability),
    FILE("Security.md", book_Security),
    FILE("HostileInput.md", book_HostileInput),
};

const size_t cembedded_book_count = sizeof(cembedded_book) / sizeof(cembedded_book[0]);
