#define _GNU_SOURCE
#include "CScheduling.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

void cscheduling_name_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

void cscheduling_shape_heap(int arenas, int mapped, int kept) {
  mallopt(M_ARENA_MAX, arenas);
  mallopt(M_MMAP_THRESHOLD, mapped);
  mallopt(M_TRIM_THRESHOLD, kept);
}

size_t cscheduling_heap_in_use(void) {
  struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

void cscheduling_trim_heap(void) {
  malloc_trim(0);
}

int cscheduling_processors(void) {
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
}

uintptr_t cscheduling_thread(void) {
  return (uintptr_t)pthread_self();
}
