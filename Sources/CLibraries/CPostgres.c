#include "CPostgres.h"

#include "Library.h"

#ifdef __linux__
#include <malloc.h>
#endif
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/// The lowest tested version (Libraries.tsv), which is the first with all functions.
#define LOWEST "14.0"

#ifdef __APPLE__
#define FILES                                                   \
  "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", \
      "/usr/local/opt/libpq/lib/libpq.5.dylib"
#else
#define FILES "libpq.so.5"
#endif

#define TOO_OLD "libpq is too old: tender needs " LOWEST " or later"

static struct tender_pq_functions api;

static const char *const names[] = {
#define SYMBOL(type, name, symbol, parameters) #symbol,
    TENDER_PQ_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static const char *check(void) {
  char version[24];
  snprintf(version, sizeof version, "%d.%d", api.version() / 10000, api.version() % 10000);
  return tender_system_is_version(version, LOWEST) ? NULL : TOO_OLD;
}

const struct tender_pq_functions *tender_pq_open(const char **why) {
  static struct library library = {
      .files = {FILES},
      .not_found = "libpq could not be opened, which a journal on PostgreSQL needs: install it with "
                   "`apt-get install libpq5` or `brew install libpq`",
      .incomplete = TOO_OLD,
      .check = check, .names = names, .count = sizeof names / sizeof *names, .functions = &api,
  };
  *why = tender_library_open(&library);
  return *why ? NULL : &api;
}

static _Thread_local int has_warned;

// Handles the server's notices, which libpq would print. A warning is remembered. The server warns if it
// stops waiting for a standby that does not confirm a commit (SQLSTATE, classes 01 and 57P).
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
  // PQERRORS_VERBOSE adds the codes of errors, which do not depend on the server's language.
  if (made) {
    api.verbosity(made, 2);
    api.notices(made, hush, NULL);
  }
  return made;
}

size_t tender_pq_large_blocks(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  return mallinfo2().hblkhd;
#else
  return 0;
#endif
}

long long tender_pq_received(int descriptor) {
#ifdef __linux__
  // `tcpi_bytes_received` (linux/tcp.h). netinet/tcp.h may lack this member, and both headers cannot be
  // included.
  enum { PLACE = 128 };
  unsigned char facts[PLACE + sizeof(long long)];
  socklen_t size = sizeof facts;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, facts, &size) || size < sizeof facts) return -1;
  long long count;
  memcpy(&count, facts + PLACE, sizeof count);
  return count;
#else
  (void)descriptor;
  return -1;
#endif
}
