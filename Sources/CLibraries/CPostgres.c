#include "CPostgres.h"

#include "CSystem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/// The lowest version that this was tried with (Libraries.tsv).
#define LOWEST "14.0"

#ifdef __APPLE__
static const char *const libraries[] = {"libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
                                        "/usr/local/opt/libpq/lib/libpq.5.dylib"};
#else
static const char *const libraries[] = {"libpq.so.5"};
#endif

static struct tender_pq_functions api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem = NULL;

static const struct {
  const char *name;
  void **place;
} symbols[] = {
#define SYMBOL(type, name, symbol, parameters) {#symbol, (void **)&api.name},
    TENDER_PQ_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static void open_once(void) {
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    problem = "libpq could not be opened, which a journal on PostgreSQL needs: install it with "
              "`apt-get install libpq5` or `brew install libpq`";
    return;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].place = dlsym(library, symbols[i].name);
    // Version 14 is the first that has all of them.
    if (!*symbols[i].place) problem = "libpq is too old: tender needs " LOWEST " or later";
  }
  if (problem) return;
  char version[24];
  snprintf(version, sizeof version, "%d.%d", api.version() / 10000, api.version() % 10000);
  if (!tender_system_is_version(version, LOWEST))
    problem = "libpq is too old: tender needs " LOWEST " or later";
}

const struct tender_pq_functions *tender_pq_open(const char **why) {
  pthread_once(&once, open_once);
  *why = problem;
  return problem ? NULL : &api;
}

static _Thread_local int has_warned;

// What a server says besides: libpq would print it. A warning is remembered: with one, the server ends the wait for a
// standby that does not confirm a commit (SQLSTATE, classes 01 and 57P).
static void hush(void *context, const char *text) {
  (void)context;
  const char *code = text ? strstr(text, ":  ") : NULL;
  if (code && (!strncmp(code + 3, "01", 2) || !strncmp(code + 3, "57P", 3))) has_warned = 1;
}

int tender_pq_take_warning(void) {
  int warned = has_warned;
  has_warned = 0;
  return warned;
}

struct tender_pq *tender_pq_begin(const char *const *keywords, const char *const *values) {
  // The database's name may be a whole address.
  struct tender_pq *made = api.begin(keywords, values, 1);
  // With the codes of errors, in whatever language the server speaks: PQERRORS_VERBOSE.
  if (made) {
    api.verbosity(made, 2);
    api.notices(made, hush, NULL);
  }
  return made;
}
