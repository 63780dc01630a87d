#define _GNU_SOURCE
#include "CSQLite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* SQLite's usual layer over the operating system (VFS, https://sqlite.org/vfs.html) for databases that one connection
   uses alone, with five differences:

   - The file is locked for this connection from the first lock until it is closed.
   - The index of the log is memory of this process, which the system provides when it is first touched: a short log
     touches three of every eight pages. No other connection may use the log, so the index needs no locks.
   - Consecutive writes are combined. A commit writes each page of the log with two calls, and a checkpoint writes each
     page of the file with one call. This layer buffers these writes, in order, until the file is synced, read,
     truncated or closed, or its size is read. When each commit is synced (`synchronous=FULL`), this is as safe as the
     usual layer: before the sync, written data can also be lost from the system's memory. Without the sync, the latest
     commits would be lost when the process ends.
   - The head of a new log is synced together with the first frames, and not before them. SQLite syncs it first, because
     after a power cut an earlier log's head and first frames must not remain beside new frames that have replaced the
     later ones. A new file has no earlier frames.
   - On demand, reads fail instead of waiting for the disk (`csqlite_begin_cached_reads`). */

/* The most bytes that the usual layer writes at once; it writes more bytes in several calls. */
enum { most_held = 0x1ffff };

/* The bytes of a log's head (https://sqlite.org/fileformat2.html#walformat). */
enum { log_head = 32 };

typedef struct {
  sqlite3_file file;
  /* The buffered writes; none when `count` is 0. */
  unsigned char *held;
  sqlite3_int64 start;
  int count;
  /* Whether it is a log that did not exist before or was empty, and SQLite has not synced it yet. */
  int is_new_log;
  /* The error that lost buffered writes, until a call has returned it whose result SQLite checks. */
  int failure;
  /* The index of the log. */
  int regions;
  int region_size;
  void **region;
  /* A second descriptor of the file for reads that must not wait, because the usual layer does not tell its own; -1 for
     none. Whether all reads are such reads at present, and how many of them failed. */
  int descriptor;
  int only_cached;
  int misses;
  /* The file of the usual layer, in the memory after this structure. */
  sqlite3_file *inner;
} exclusive_file;

static sqlite3_vfs *default_vfs;

static exclusive_file *of(sqlite3_file *file) { return (exclusive_file *)file; }
static sqlite3_file *inner(sqlite3_file *file) { return of(file)->inner; }

/* One buffer that no file uses. It is usually enough, because most commits end before another file needs a buffer. */
static _Atomic(unsigned char *) spare;

static unsigned char *take_buffer(void) {
  unsigned char *buffer = atomic_exchange(&spare, NULL);
  return buffer ? buffer : malloc(most_held);
}

static void give_buffer(unsigned char *buffer) {
  unsigned char *none = NULL;
  if (!atomic_compare_exchange_strong(&spare, &none, buffer)) free(buffer);
}

/* Writes to the usual layer's file. For SQLite only ENOSPC means a full disk. This function also reports a full disk
   for a limit on the size of the file (EFBIG) and for an exceeded disk quota (EDQUOT). */
static int write_own(exclusive_file *me, const void *bytes, int count, sqlite3_int64 offset) {
  int result = me->inner->pMethods->xWrite(me->inner, bytes, count, offset);
  if (result == SQLITE_IOERR_WRITE && (errno == EFBIG || errno == EDQUOT)) return SQLITE_FULL;
  return result;
}

/* Writes the buffered bytes. After an error they are discarded, because the content of the file after a failed write is
   unknown. The transaction or checkpoint that they belong to must then fail: see `flush_checked`. */
static void flush(sqlite3_file *file) {
  exclusive_file *me = of(file);
  if (me->count == 0) return;
  int result = write_own(me, me->held, me->count, me->start);
  if (result != SQLITE_OK) me->failure = result;
  give_buffer(me->held);
  me->held = NULL;
  me->count = 0;
}

/* Writes the buffered bytes and returns the error, if any. SQLite checks the results of writes, reads, truncations and
   syncs, and a sync ends each transaction and checkpoint. It may ignore the results of other calls, so these keep the
   error for a later call. */
static int flush_checked(sqlite3_file *file) {
  flush(file);
  int failure = of(file)->failure;
  of(file)->failure = SQLITE_OK;
  return failure;
}

static int write_at(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  exclusive_file *me = of(file);
  if (me->count > 0 && (offset != me->start + me->count || count > most_held - me->count)) {
    int result = flush_checked(file);
    if (result != SQLITE_OK) return result;
  }
  if (me->count == 0) {
    me->held = count < most_held ? take_buffer() : NULL;
    if (!me->held) return write_own(me, bytes, count, offset);
    me->start = offset;
  }
  memcpy(me->held + me->count, bytes, (size_t)count);
  me->count += count;
  return SQLITE_OK;
}

/* Reads what is in the system's memory. It fails when the page is not there, or only a part of it, or the file ends
   here, and where the file system does not support such reads. */
static int read_cached(exclusive_file *me, void *bytes, int count, sqlite3_int64 offset) {
  struct iovec piece = {bytes, (size_t)count};
  if (me->count == 0 && preadv2(me->descriptor, &piece, 1, offset, RWF_NOWAIT) == count) return SQLITE_OK;
  me->misses++;
  return SQLITE_IOERR_READ;
}

static int read_at(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  if (of(file)->only_cached) return read_cached(of(file), bytes, count, offset);
  int result = flush_checked(file);
  return result == SQLITE_OK ? inner(file)->pMethods->xRead(inner(file), bytes, count, offset) : result;
}

static int truncate_to(sqlite3_file *file, sqlite3_int64 size) {
  int result = flush_checked(file);
  return result == SQLITE_OK ? inner(file)->pMethods->xTruncate(inner(file), size) : result;
}

static int sync_all(sqlite3_file *file, int flags) {
  exclusive_file *me = of(file);
  int is_head = me->is_new_log && me->start == 0 && me->count == log_head;
  me->is_new_log = 0;
  if (is_head && me->failure == SQLITE_OK) return SQLITE_OK;
  int result = flush_checked(file);
  return result == SQLITE_OK ? inner(file)->pMethods->xSync(inner(file), flags) : result;
}

static int size_of(sqlite3_file *file, sqlite3_int64 *size) {
  flush(file);
  int result = inner(file)->pMethods->xFileSize(inner(file), size);
  return of(file)->failure == SQLITE_OK ? result : of(file)->failure;
}

static int lock(sqlite3_file *file, int level) {
  int result = inner(file)->pMethods->xLock(inner(file), SQLITE_LOCK_SHARED);
  if (result == SQLITE_OK) result = inner(file)->pMethods->xLock(inner(file), SQLITE_LOCK_EXCLUSIVE);
  if (result != SQLITE_OK) inner(file)->pMethods->xUnlock(inner(file), SQLITE_LOCK_NONE);
  (void)level;
  return result;
}

/* Does nothing: closing the file ends the lock. */
static int unlock(sqlite3_file *file, int level) {
  (void)file, (void)level;
  return SQLITE_OK;
}

/* Always no: no other connection can have a reserved lock. */
static int is_reserved(sqlite3_file *file, int *answer) {
  (void)file;
  *answer = 0;
  return SQLITE_OK;
}

/* Without a log and without syncs a transaction ends with SQLITE_FCNTL_SYNC, whose result SQLite checks. */
static int control(sqlite3_file *file, int operation, void *argument) {
  if (operation == SQLITE_FCNTL_SYNC) flush(file);
  if (of(file)->failure != SQLITE_OK) return of(file)->failure;
  return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return inner(file)->pMethods->xSectorSize(inner(file)); }

static int characteristics(sqlite3_file *file) {
  return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

static int map_index(
    sqlite3_file *file, int number, int size, int extends, void volatile **address) {
  exclusive_file *me = of(file);
  *address = NULL;
  if (number >= me->regions) {
    if (!extends) return SQLITE_OK;
    void **longer = realloc(me->region, sizeof(void *) * (size_t)(number + 1));
    if (!longer) return SQLITE_IOERR_NOMEM;
    me->region = longer;
    me->region_size = size;
    for (; me->regions <= number; me->regions++) {
      void *made = mmap(
          NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (made == MAP_FAILED) return SQLITE_IOERR_NOMEM;
      /* The system joins adjacent mappings; it should not use a huge page for them. */
      madvise(made, (size_t)size, MADV_NOHUGEPAGE);
      longer[me->regions] = made;
    }
  }
  *address = me->region[number];
  return SQLITE_OK;
}

static int lock_index(sqlite3_file *file, int offset, int count, int flags) {
  (void)file, (void)offset, (void)count, (void)flags;
  return SQLITE_OK;
}

static void fence_index(sqlite3_file *file) {
  (void)file;
  atomic_thread_fence(memory_order_seq_cst);
}

static int unmap_index(sqlite3_file *file, int removes) {
  exclusive_file *me = of(file);
  (void)removes;
  while (me->regions > 0) munmap(me->region[--me->regions], (size_t)me->region_size);
  free(me->region);
  me->region = NULL;
  return SQLITE_OK;
}

static int close_file(sqlite3_file *file) {
  int written = flush_checked(file);
  unmap_index(file, 0);
  int closed = inner(file)->pMethods->xClose(inner(file));
  /* After the usual layer's: closing any descriptor of a file ends the process's locks on it. */
  if (of(file)->descriptor >= 0) close(of(file)->descriptor);
  return written == SQLITE_OK ? closed : written;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_at,
    .xWrite = write_at,
    .xTruncate = truncate_to,
    .xSync = sync_all,
    .xFileSize = size_of,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_index,
    .xShmLock = lock_index,
    .xShmBarrier = fence_index,
    .xShmUnmap = unmap_index,
};

static int open_file(
    sqlite3_vfs *files, const char *name, sqlite3_file *file, int flags, int *opened) {
  (void)files;
  /* All other files use the usual layer, because buffering is not worth it: a temporary file is never synced. */
  if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
    return default_vfs->xOpen(default_vfs, name, file, flags, opened);
  exclusive_file *me = of(file);
  memset(me, 0, sizeof *me);
  me->inner = (sqlite3_file *)(me + 1);
  int exists = 1;
  if (flags & SQLITE_OPEN_WAL) default_vfs->xAccess(default_vfs, name, SQLITE_ACCESS_EXISTS, &exists);
  me->is_new_log = !exists;
  int result = default_vfs->xOpen(default_vfs, name, me->inner, flags, opened);
  if (result != SQLITE_OK) return result;
  me->descriptor = open(name, O_RDONLY | O_CLOEXEC);
  file->pMethods = &methods;
  return result;
}

/* The file or the log of a connection; none when it is not open, or uses another layer. */
static exclusive_file *opened(sqlite3 *database, int operation) {
  sqlite3_file *file = NULL;
  sqlite3_file_control(database, "main", operation, &file);
  return file && file->pMethods == &methods ? of(file) : NULL;
}

int csqlite_begin_cached_reads(sqlite3 *database) {
  exclusive_file *file = opened(database, SQLITE_FCNTL_FILE_POINTER);
  exclusive_file *log = opened(database, SQLITE_FCNTL_JOURNAL_POINTER);
  if (!file) return 0;
  file->only_cached = 1;
  file->misses = 0;
  if (!log) return 1;
  log->only_cached = 1;
  log->misses = 0;
  return 1;
}

int csqlite_end_cached_reads(sqlite3 *database) {
  exclusive_file *file = opened(database, SQLITE_FCNTL_FILE_POINTER);
  exclusive_file *log = opened(database, SQLITE_FCNTL_JOURNAL_POINTER);
  file->only_cached = 0;
  if (log) log->only_cached = 0;
  return file->misses + (log ? log->misses : 0);
}

int csqlite_install_exclusive_files(void) {
  static sqlite3_vfs files;
  default_vfs = sqlite3_vfs_find("unix");
  if (!default_vfs) return 0;
  files = *default_vfs;
  files.zName = CSQLITE_EXCLUSIVE_FILES;
  files.szOsFile = (int)sizeof(exclusive_file) + default_vfs->szOsFile;
  files.xOpen = open_file;
  return sqlite3_vfs_register(&files, 0) == SQLITE_OK;
}
