"""Power-loss replay: a server's system calls are recorded, and its disk is rebuilt as a power cut at each call could
leave it.

**What the model covers.** Some calls change a file or a directory: a write, a change of a file's size, and a change of
a directory's entries (a file is created, renamed, linked or removed, a directory is created). Such a change is
certainly on the disk only after an `fsync` or `fdatasync` of that file or directory which began after the change had
ended. A cut before that may leave any part of the change:

- Each call is on the disk as a whole or not at all, in any order.
- Of a write, any of its sectors (512 bytes) or pages (4,096 bytes) are on the disk. The others keep the old bytes. In
  one variant they have garbage instead.
- A file may be as long as its last write made it, with zeros for bytes that were not written.

A sync of a file's content does not make the file's name durable. If a directory is lost, everything below it is lost.
The time of each response is exact: the call that sends it is one of the recorded calls.

**What the model leaves out.** The log's index (`-shm`) is never restored, because SQLite builds it again. Except for
the garbage above, a sector is written as a whole or not at all, and bytes beside a write do not change (SQLite's
`SQLITE_POWERSAFE_OVERWRITE`). Disks that falsely report a sync, change bits or mix up sectors are not covered. A rename
is one step, as in POSIX. The parent of the data directory belongs to the operator and counts as durable.
"""
