"""Power-loss replay: a server's system calls are recorded, and its disk is rebuilt as a power cut
at each of them could leave it.

**What is modelled.** A write, a change of a file's size, and a change of a directory (a file made,
renamed, linked, removed, a directory made) is on the disk for certain only after an `fsync` or
`fdatasync` of that file or of that directory which began after it had ended. Until then, at a cut,
any part of it may be there: each call whole or not at all, in any order; of a write any of its
sectors (512 bytes) or pages (4,096 bytes), the others keeping the old bytes, or, in one variant,
having garbage where the write would have been; a file as long as its last write made it, with zeros
for the bytes that never came. A file's content being synchronised does not make its name durable,
and a directory that is lost takes with it what is below. What a client was told is placed exactly:
the call that sends an answer is one of the recorded calls.

**What is not.** The log's index (`-shm`) is never restored: SQLite builds it anew. A sector is
written whole or not at all but for the garbage above, and bytes beside those that a write names are
left alone (SQLite's `SQLITE_POWERSAFE_OVERWRITE`). A disk that says it has synchronised when it has
not, turns bits or mixes up sectors is not looked at here. A rename is one step, as POSIX has it.
The directory in which the data directory itself is made belongs to the operator and is taken to be
durable.
"""
