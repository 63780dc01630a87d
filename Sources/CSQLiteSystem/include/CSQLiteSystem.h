#ifndef CSQLITESYSTEM_H
#define CSQLITESYSTEM_H

struct sqlite3;

/* Settings of SQLite that hold for the whole process, made before it is used first. Returns whether they were
   taken: not once SQLite is in use. */
int csqlite_configure(void);

/* Puts a function of ours in the place of SQLite's pread (https://sqlite.org/c3ref/vfs.html, xSetSystemCall),
   for the whole process. Returns whether it was taken. */
int csqlite_install_reads(void);

/* From here on the calling thread's reads by SQLite fail where the system would have to wait for the disk. */
void csqlite_begin_cached_reads(void);

/* Ends that; returns how many reads failed so since. */
int csqlite_end_cached_reads(void);

/* The name of the layer below; see ExclusiveFiles.c. */
#define CSQLITE_EXCLUSIVE_FILES "exclusive"

/* Makes a layer over the operating system known to SQLite, for files that one connection has to itself. Returns
   whether it was taken. */
int csqlite_install_exclusive_files(void);

/* Makes the function `relevance` known to a connection: bm25() of FTS5 whose cost before the first row is bounded; see
   Relevance.c. Returns a result code. */
int csqlite_add_relevance(struct sqlite3 *database);

#endif
