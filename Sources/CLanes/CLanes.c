#include "CLanes.h"

#include <sys/prctl.h>

void clanes_name_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

static _Thread_local clanes_thread this_thread;

clanes_thread *clanes_this_thread(void) {
  return &this_thread;
}
