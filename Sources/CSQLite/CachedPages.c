#define _GNU_SOURCE
#include "CSQLite.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static _Thread_local int only_cached;
static _Thread_local int misses;
/* Set to 0, and never back, when a file system does not support RWF_NOWAIT. */
static atomic_int usable = 1;

static ssize_t read_at(int file, void *buffer, size_t count, off_t offset) {
  if (!only_cached) return pread(file, buffer, count, offset);
  struct iovec piece = {buffer, count};
  ssize_t got = preadv2(file, &piece, 1, offset, RWF_NOWAIT);
  if (got == (ssize_t)count) return got;
  if (got < 0 && errno == EOPNOTSUPP) atomic_store(&usable, 0);
  /* The page is not in memory, or only a part of it, or the file ends here: a thread that must not wait can't read it.
     With this errno SQLite reports an ordinary read error, and not damage as for EIO. */
  misses++;
  errno = EAGAIN;
  return -1;
}

int csqlite_install_reads(void) {
  sqlite3_vfs *files = sqlite3_vfs_find("unix");
  if (!files || files->iVersion < 3 || !files->xSetSystemCall) return 0;
  sqlite3_syscall_ptr replacement = (sqlite3_syscall_ptr)read_at;
  int first = files->xSetSystemCall(files, "pread", replacement);
  /* The build of SQLite determines which of the two names is in use. */
  int second = files->xSetSystemCall(files, "pread64", replacement);
  return first == SQLITE_OK && second == SQLITE_OK;
}

void csqlite_begin_cached_reads(void) {
  misses = 0;
  only_cached = 1;
}

int csqlite_end_cached_reads(void) {
  only_cached = 0;
  return misses + !atomic_load(&usable);
}
