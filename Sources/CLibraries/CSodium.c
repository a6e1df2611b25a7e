#include "CSodium.h"

#include "Library.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
  TENDER_SODIUM_FUNCTIONS(TYPED_MEMBER)
  int (*sodium_init)(void);
  const char *(*sodium_version_string)(void);
} api;
static const char *const names[] = {
    TENDER_SODIUM_FUNCTIONS(TYPED_NAME) "sodium_init", "sodium_version_string"};

static const char *version(void) { return api.sodium_version_string(); }

static const char *begin(void) {
  return api.sodium_init() < 0 ? "libsodium finds no randomness" : NULL;
}

static int is_open;

const char *tender_sodium_open(void) {
  static struct library library = LIBRARY(
      "libsodium", "1.0.18", "libsodium23", "libsodium", begin,
      FILES(("libsodium.so.23", "libsodium.so.26"),
            ("libsodium.23.dylib", "/opt/homebrew/opt/libsodium/lib/libsodium.dylib",
             "/usr/local/opt/libsodium/lib/libsodium.dylib")));
  const char *problem = tender_library_open(&library);
  if (!problem) __atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
  return problem;
}

// A command opens the library at its start and reports a problem. Without it no secret can be held.
static void open_first(void) {
  const char *problem = tender_sodium_open();
  if (!problem) return;
  fprintf(stderr, "tender: %s\n", problem);
  abort();
}

#define FUNCTION(result, name, parameters, arguments) \
  result name parameters { \
    if (!__atomic_load_n(&is_open, __ATOMIC_ACQUIRE)) open_first(); \
    return api.name arguments; \
  }
TENDER_SODIUM_FUNCTIONS(FUNCTION)
