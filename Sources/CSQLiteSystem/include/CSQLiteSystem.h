#ifndef CSQLITESYSTEM_H
#define CSQLITESYSTEM_H

struct sqlite3;

/* Makes the settings of SQLite for the whole process, before its first use. Returns whether SQLite accepted them; it
   does not once it is in use. */
int csqlite_configure(void);

/* Replaces SQLite's pread by a function of this library (https://sqlite.org/c3ref/vfs.html, xSetSystemCall), for the
   whole process. Returns whether SQLite accepted it. */
int csqlite_install_reads(void);

/* From this call on, SQLite's reads on the calling thread fail when the system would have to wait for the disk. */
void csqlite_begin_cached_reads(void);

/* Ends this mode. Returns a value above 0 when reads failed because of it, or when the file system does not support
   it. */
int csqlite_end_cached_reads(void);

/* The name of the VFS in ExclusiveFiles.c. */
#define CSQLITE_EXCLUSIVE_FILES "exclusive"

/* Registers a VFS for files that one connection uses alone; see ExclusiveFiles.c. Returns whether SQLite accepted
   it. */
int csqlite_install_exclusive_files(void);

/* Adds the function `relevance` to a connection: FTS5's bm25() with a limited cost before the first row; see
   Relevance.c. Returns a result code. */
int csqlite_add_relevance(struct sqlite3 *database);

#endif
