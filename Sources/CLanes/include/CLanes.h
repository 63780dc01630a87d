#ifndef CLANES_H
#define CLANES_H

#include <stdint.h>

/* Names the calling thread; Linux keeps the first 15 bytes. prctl takes variable arguments, which Swift does not
   import, and the C library's own function is hidden from Swift behind _GNU_SOURCE. */
void clanes_name_thread(const char *name);

/* What the calling thread works on, and since when: Swift has no variables of a thread. */
typedef struct {
  /* When the present slice ends, in nanoseconds of CLOCK_MONOTONIC; 0 outside of slices. */
  int64_t slice_end;
  /* An object that its owner keeps alive for as long as it stands here. */
  void *work;
} clanes_thread;

clanes_thread *clanes_this_thread(void);

#endif
