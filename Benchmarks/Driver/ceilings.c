/* The limits of the machine without a server: how many sequential writes a second the file system makes durable
 * (fsync), and how many commits a second SQLite makes in a loop with synchronous=FULL (sqlite).
 *   ceilings fsync|sqlite FILE SECONDS [ROWS]
 * With ROWS, each commit has this many insertions. Prints one line of JSON about the commits, in wrk's units. FILE
 * must not exist; the program removes it at the end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BODY = 1100, MOST = 4000000 };

static float *times;
static long count, inserted;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Writes one frame of SQLite's log (a page and its header) over an old one. The first call fills the log first. */
static void write_once(int file) {
  static char frame[4096 + 24];
  enum { FRAMES = 1000 };
  for (long at = 0; count == 0 && at < FRAMES; at++)
    if (write(file, frame, sizeof frame) != sizeof frame) fail("write");
  if (pwrite(file, frame, sizeof frame, count % FRAMES * sizeof frame) != sizeof frame) fail("pwrite");
  if (fdatasync(file) != 0) fail("fdatasync");
}

static void run(sqlite3 *database, const char *sql) {
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql);
}

static sqlite3 *opened(const char *path) {
  sqlite3 *database;
  if (sqlite3_open(path, &database) != SQLITE_OK) fail("opening");
  const char *script =
      "PRAGMA journal_mode=WAL; PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL;"
      "CREATE TABLE documents(sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)";
  run(database, script);
  return database;
}

static void insert_once(sqlite3_stmt *insert) {
  static char body[BODY];
  char id[32];
  int length = snprintf(id, sizeof id, "doc-0-%08ld", inserted++);
  sqlite3_bind_text(insert, 1, id, length, SQLITE_STATIC);
  sqlite3_bind_blob(insert, 2, body, BODY, SQLITE_STATIC);
  if (sqlite3_step(insert) != SQLITE_DONE) fail("an insertion");
  sqlite3_reset(insert);
}

static void commit_once(sqlite3 *database, sqlite3_stmt *insert, int rows) {
  if (rows > 1) run(database, "BEGIN IMMEDIATE");
  for (int row = 0; row < rows; row++) insert_once(insert);
  if (rows > 1) run(database, "COMMIT");
}

int main(int argc, char **argv) {
  if (argc < 4 || argc > 5) fail("reading the arguments: fsync|sqlite FILE SECONDS [ROWS]");
  int alone = strcmp(argv[1], "fsync") == 0, file = -1, rows = argc == 5 ? atoi(argv[4]) : 1;
  sqlite3 *database = NULL;
  sqlite3_stmt *insert = NULL;
  if (alone) {
    file = open(argv[2], O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) fail("making the file");
  } else {
    database = opened(argv[2]);
    const char *sql = "INSERT INTO documents(id, body) VALUES (?1, ?2)";
    if (sqlite3_prepare_v2(database, sql, -1, &insert, NULL) != SQLITE_OK) fail("preparing");
  }
  times = malloc(MOST * sizeof *times);
  if (!times) fail("malloc");
  double start = now(), end = start + atof(argv[3]), last = start;
  while (last < end && count < MOST) {
    if (alone) write_once(file); else commit_once(database, insert, rows);
    double at = now();
    times[count++] = (at - last) * 1e6;
    last = at;
  }
  qsort(times, count, sizeof *times, by_value);
  printf("{\"requests\":%ld,\"microseconds\":%.0f,\"p50\":%.1f,\"p99\":%.1f,\"max\":%.1f,\"refused\":0,"
         "\"broken\":0}\n",
         count, (last - start) * 1e6, times[count / 2], times[count * 99 / 100], times[count - 1]);
  unlink(argv[2]);
  char beside[4096];
  for (int i = 0; i < 2; i++) {
    snprintf(beside, sizeof beside, "%s-%s", argv[2], i ? "wal" : "shm");
    unlink(beside);
  }
  return 0;
}
