#include "CPostgres.h"

#include "Library.h"

#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <fcntl.h>
#endif
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct tender_pq_functions api;

static const char *const names[] = {
#define SYMBOL(type, name, symbol, parameters) #symbol,
    TENDER_PQ_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static const char *version(void) {
  static char text[24];
  snprintf(text, sizeof text, "%d.%d", api.version() / 10000, api.version() % 10000);
  return text;
}

const struct tender_pq_functions *tender_pq_open(const char **why) {
  static struct library library = LIBRARY(
      "libpq", "14.0", "libpq5", "libpq", NULL,
      FILES(("libpq.so.5"),
            ("libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
             "/usr/local/opt/libpq/lib/libpq.5.dylib")));
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

size_t tender_pq_memory(void) {
#ifdef __APPLE__
  malloc_statistics_t found;
  malloc_zone_statistics(NULL, &found);
  return found.size_in_use;
#else
  // With every C library. In pages: all, resident, shared, code, libraries, data (proc(5)).
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length < 0 ? 0 : length] = 0;
  size_t data = 0;
  if (sscanf(text, "%*u %*u %*u %*u %*u %zu", &data) != 1) return 0;
  return data * (size_t)sysconf(_SC_PAGESIZE);
#endif
}

int tender_pq_ready(int descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) ? 0 : count;
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
