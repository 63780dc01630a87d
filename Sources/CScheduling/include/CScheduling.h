#ifndef CSCHEDULING_H
#define CSCHEDULING_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* Sets the name of the calling thread; Linux keeps the first 15 bytes. Swift can't import prctl, which takes variable
   arguments, and pthread_setname_np needs _GNU_SOURCE, which Swift does not define. */
void cscheduling_name_thread(const char *name);

/* Sets how many parts the heap of this process has at most, from how many bytes on a piece is mapped on its own, and how
   many free bytes a part keeps at its end (mallopt(3), which Swift can't import). */
void cscheduling_shape_heap(int arenas, int mapped, int kept);

/* The bytes of the heap that are in use (mallinfo2(3)). */
size_t cscheduling_heap_in_use(void);

/* Returns the heap's free pages to the system (malloc_trim(3), a function of glibc that Swift can't import). */
void cscheduling_trim_heap(void);

/* How many processors this process may use (sched_getaffinity(2)). */
int cscheduling_processors(void);

/* A number that only the calling thread has. For Swift, pthread_self always returns the same: an asynchronous function
   may call it once and use the number on another thread. */
uintptr_t cscheduling_thread(void);

#pragma clang assume_nonnull end

#endif
