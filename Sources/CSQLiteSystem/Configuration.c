#include "CSQLiteSystem.h"

#include <sqlite3.h>

int csqlite_configure(void) {
  /* No account of memory: it takes one lock of the whole process at each allocation.
     https://sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus */
  int first = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  /* No room for pages in advance: a connection would take all that its cache may have at its first page, and
     hundreds of stores are open that hold three. #sqliteconfigpagecache */
  int second = sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
  return first == SQLITE_OK && second == SQLITE_OK;
}
