#include "Library.h"

#include <dlfcn.h>
#include <pthread.h>

static const char *attempt(const struct library *library) {
  void *opened = NULL;
  for (size_t i = 0; !opened && i < 3 && library->files[i]; i++)
    opened = dlopen(library->files[i], RTLD_LAZY | RTLD_LOCAL);
  if (!opened)
    return library->not_found;
  void **functions = library->functions;
  for (size_t i = 0; i < library->count; i++)
    if (!(functions[i] = dlsym(opened, library->names[i])))
      return library->incomplete;
  return library->check();
}

const char *tender_library_open(struct library *library) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!library->is_tried)
    library->problem = attempt(library);
  library->is_tried = 1;
  pthread_mutex_unlock(&lock);
  return library->problem;
}
