#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

struct cpostgres_functions cpostgres_functions;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;

static void *find(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (!function) failure = "libpq.so.5 is older than version 14";
  return function;
}

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    failure = "libpq.so.5 can't be loaded; on Debian the package libpq5 has it";
    return;
  }
#define FIND(result, name, parameters, arguments)                                                   \
  *(void **)&cpostgres_functions.name = find(library, #name);
#define FIND_VOID(name, parameters, arguments)                                                      \
  *(void **)&cpostgres_functions.name = find(library, #name);
  CPOSTGRES_FUNCTIONS(FIND, FIND_VOID)
}

const char *cpostgres_load(void) {
  pthread_once(&once, load);
  return failure;
}
