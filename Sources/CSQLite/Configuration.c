#include "CSQLite.h"


int csqlite_configure(void) {
  /* No memory statistics: they take a lock of the whole process at each allocation.
     https://sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus */
  int first = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  /* No allocation of pages in advance: with its first page a connection would allocate its whole cache, and hundreds
     of stores are open that need three pages. #sqliteconfigpagecache */
  int second = sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
  return first == SQLITE_OK && second == SQLITE_OK;
}
