#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// A file stands here with three lines, and with one in the table below. The compiler notes each as something that this
// file depends on, so a build takes what has changed.
#define BYTES static const unsigned char

BYTES index_html[] = {
#embed "../Page/Files/index.html"
};

BYTES offline_js[] = {
#embed "../Page/Files/offline.js"
};

BYTES worker_js[] = {
#embed "../Page/Files/worker.js"
};

BYTES offline_actions_js[] = {
#embed "../Page/Files/offline/actions.js"
};

BYTES offline_client_js[] = {
#embed "../Page/Files/offline/client.js"
};

BYTES offline_copy_js[] = {
#embed "../Page/Files/offline/copy.js"
};

BYTES offline_database_js[] = {
#embed "../Page/Files/offline/database.js"
};

BYTES offline_error_js[] = {
#embed "../Page/Files/offline/error.js"
};

BYTES offline_feed_js[] = {
#embed "../Page/Files/offline/feed.js"
};

BYTES offline_hotels_js[] = {
#embed "../Page/Files/offline/hotels.js"
};

BYTES offline_outbox_js[] = {
#embed "../Page/Files/offline/outbox.js"
};

BYTES offline_server_js[] = {
#embed "../Page/Files/offline/server.js"
};

BYTES offline_session_js[] = {
#embed "../Page/Files/offline/session.js"
};

BYTES offline_shell_js[] = {
#embed "../Page/Files/offline/shell.js"
};

BYTES offline_synchroniser_js[] = {
#embed "../Page/Files/offline/synchroniser.js"
};

BYTES offline_tabs_js[] = {
#embed "../Page/Files/offline/tabs.js"
};

BYTES offline_view_js[] = {
#embed "../Page/Files/offline/view.js"
};

#define FILE(name, bytes) {name, bytes, sizeof(bytes)}

static const cpage_file files[] = {
    FILE("index.html", index_html),
    FILE("offline.js", offline_js),
    FILE("worker.js", worker_js),
    FILE("offline/actions.js", offline_actions_js),
    FILE("offline/client.js", offline_client_js),
    FILE("offline/copy.js", offline_copy_js),
    FILE("offline/database.js", offline_database_js),
    FILE("offline/error.js", offline_error_js),
    FILE("offline/feed.js", offline_feed_js),
    FILE("offline/hotels.js", offline_hotels_js),
    FILE("offline/outbox.js", offline_outbox_js),
    FILE("offline/server.js", offline_server_js),
    FILE("offline/session.js", offline_session_js),
    FILE("offline/shell.js", offline_shell_js),
    FILE("offline/synchroniser.js", offline_synchroniser_js),
    FILE("offline/tabs.js", offline_tabs_js),
    FILE("offline/view.js", offline_view_js),
};

size_t cpage_count(void) { return sizeof(files) / sizeof(files[0]); }

cpage_file cpage_at(size_t place) { return files[place]; }
