#ifndef CSQLITE_H
#define CSQLITE_H

#include <sqlite3.h>

/* Swift can't import sqlite3_db_config, because it takes variable arguments.
   This is its form for the on/off options: https://sqlite.org/c3ref/c_dbconfig_defensive.html */
static inline int csqlite_db_config_switch(sqlite3 *database, int option, int on) {
  return sqlite3_db_config(database, option, on, (int *)0);
}

/* Its form for the memory reserved for small allocations (lookaside), which SQLite allocates itself:
   https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfiglookaside */
static inline int csqlite_set_lookaside(sqlite3 *database, int size, int count) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, size, count);
}

/* Swift can't import SQLITE_TRANSIENT either, because it is a cast of -1 to a function pointer:
   https://sqlite.org/c3ref/c_static.html */
static inline sqlite3_destructor_type csqlite_transient(void) {
  return SQLITE_TRANSIENT;
}

/* Makes the settings of SQLite for the whole process, before its first use. Returns whether SQLite accepted them; it
   does not once it is in use. */
int csqlite_configure(void);

/* From this call on, reads of a database fail when the system would have to wait for the disk. Returns 0 for a database
   that does not use the VFS in ExclusiveFiles.c; nothing is changed then. */
int csqlite_begin_cached_reads(sqlite3 *database);

/* Ends this mode. Returns how many reads failed because of it. */
int csqlite_end_cached_reads(sqlite3 *database);

/* The name of the VFS in ExclusiveFiles.c. */
#define CSQLITE_EXCLUSIVE_FILES "exclusive"

/* Registers a VFS for files that one connection uses alone; see ExclusiveFiles.c. Returns whether SQLite accepted
   it. */
int csqlite_install_exclusive_files(void);

/* Adds the function `relevance` to a connection: FTS5's bm25() with a limited cost before the first row; see
   Relevance.c. Returns a result code. */
int csqlite_add_relevance(sqlite3 *database);

#endif
