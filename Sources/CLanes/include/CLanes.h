#ifndef CLANES_H
#define CLANES_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* Sets the name of the calling thread; Linux keeps the first 15 bytes. Swift can't import prctl, which takes variable
   arguments, and pthread_setname_np needs _GNU_SOURCE, which Swift does not define. */
void clanes_name_thread(const char *name);

/* Limits how many parts the heap of this process has (M_ARENA_MAX of mallopt(3), which Swift can't import). */
void clanes_limit_arenas(int count);

/* The bytes of the heap that are in use (mallinfo2(3)). */
size_t clanes_heap_in_use(void);

/* Returns the heap's free pages to the system (malloc_trim(3), a function of glibc that Swift can't import). */
void clanes_trim_heap(void);

/* The state of the calling thread. It is in C because Swift has no thread-local variables. */
typedef struct {
  /* When the present slice ends, in nanoseconds of CLOCK_MONOTONIC; 0 outside of slices. */
  int64_t slice_end;
  /* The time of the last charge, in nanoseconds of the same clock. */
  int64_t settled;
  /* How long the thread has waited for the disk since then, in nanoseconds. */
  int64_t blocked;
  /* The thread's processor time when it was last read, and the time that was charged since then without reading it,
     both in nanoseconds. */
  int64_t processor, charged;
  /* The request that the thread works for, which is retained here, and the executor of the task that it runs, which
     the task's job retains. */
  void *_Nullable work, *_Nullable executor;
  /* The pool that the thread belongs to. */
  void *_Nullable pool;
  /* Whether the next job that `executor` gets is stored in `caught`, so that this thread runs it at once. */
  int catches;
  void *_Nullable caught;
} clanes_thread;

extern _Thread_local clanes_thread clanes_the_thread;

/* Inline, so that Swift needs no function call. */
static inline clanes_thread *clanes_this_thread(void) {
  return &clanes_the_thread;
}

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t clanes_now(void);

/* The processor time of the calling thread, in nanoseconds. A system call, unlike clanes_now. */
int64_t clanes_processor_time(void);

#pragma clang assume_nonnull end

#endif
