#ifndef CLANES_H
#define CLANES_H

#include <stdint.h>

#pragma clang assume_nonnull begin

/* Names the calling thread; Linux keeps the first 15 bytes. prctl takes variable arguments, which Swift does not
   import, and the C library's own function is hidden from Swift behind _GNU_SOURCE. */
void clanes_name_thread(const char *name);

/* What the calling thread is at: Swift has no variables of a thread. */
typedef struct {
  /* When the present slice ends, in nanoseconds of CLOCK_MONOTONIC; 0 outside of slices. */
  int64_t slice_end;
  /* Since when nothing was charged, in the same nanoseconds. */
  int64_t settled;
  /* Nanoseconds since then that the thread waited for the disk. */
  int64_t blocked;
  /* The thread's processor time when it was last asked for, in nanoseconds, and what was charged since without
     asking. */
  int64_t processor, charged;
  /* What the thread works for, which is kept for as long as it stands here, and the executor of the task that it
     runs, which its job keeps. */
  void *_Nullable work, *_Nullable executor;
  /* The pool whose worker the thread is. */
  void *_Nullable pool;
  /* Whether the next job that `executor` gets is kept here, in `caught`, and run at once. */
  int catches;
  void *_Nullable caught;
} clanes_thread;

extern _Thread_local clanes_thread clanes_the_thread;

/* Here, so that Swift calls no function for it. */
static inline clanes_thread *clanes_this_thread(void) {
  return &clanes_the_thread;
}

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t clanes_now(void);

/* Nanoseconds that the calling thread has had a processor. A system call, unlike clanes_now. */
int64_t clanes_processor_time(void);

#pragma clang assume_nonnull end

#endif
