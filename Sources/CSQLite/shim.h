#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>
#include <sys/prctl.h>

/* sqlite3_db_config takes variable arguments, which Swift does not import.
   This is its form for the on/off options: https://sqlite.org/c3ref/c_dbconfig_defensive.html */
static inline int csqlite_db_config_switch(sqlite3 *database, int option, int on) {
  return sqlite3_db_config(database, option, on, (int *)0);
}

/* SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift does not import either:
   https://sqlite.org/c3ref/c_static.html */
static inline sqlite3_destructor_type csqlite_transient(void) {
  return SQLITE_TRANSIENT;
}

/* Names the calling thread, for the lanes that connections live on: prctl takes variable arguments
   too, and the C library's own function is hidden from Swift behind _GNU_SOURCE. Linux keeps the
   first 15 bytes. */
static inline void csqlite_name_current_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
