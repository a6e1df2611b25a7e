#include "Library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct library *newest;

static const char *attempt(struct library *library) {
  void *opened = NULL;
  for (size_t i = 0; !opened && i < 3 && library->files[i]; i++)
    opened = dlopen(library->files[i], RTLD_LAZY | RTLD_LOCAL);
  if (!opened) {
    snprintf(library->text, sizeof library->text,
             "%s could not be opened (%s): install it with `apt-get install %s` or `brew install %s`",
             library->name, library->files[0], library->debian, library->brew);
    return library->text;
  }
  int is_whole = 1;
  void **functions = library->functions;
  for (size_t i = 0; i < library->count; i++)
    is_whole &= !!(functions[i] = dlsym(opened, library->names[i]));
  const char *version = is_whole ? library->version() : "0";
  if (!tender_system_is_version(version, library->lowest)) {
    snprintf(library->text, sizeof library->text, "%s is too old: tender needs %s or later", library->name,
             library->lowest);
    return library->text;
  }
  const char *problem = library->begin ? library->begin() : NULL;
  if (problem)
    return problem;
  snprintf(library->text, sizeof library->text, "%s %s", library->name, version);
  library->next = newest;
  newest = library;
  return NULL;
}

const char *tender_library_open(struct library *library) {
  pthread_mutex_lock(&lock);
  if (!library->is_tried)
    library->problem = attempt(library);
  library->is_tried = 1;
  pthread_mutex_unlock(&lock);
  return library->problem;
}

const char *tender_library_opened(size_t number) {
  pthread_mutex_lock(&lock);
  struct library *library = newest;
  while (library && number--)
    library = library->next;
  pthread_mutex_unlock(&lock);
  return library ? library->text : NULL;
}
