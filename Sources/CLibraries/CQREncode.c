#include "CQREncode.h"

#include "CSystem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#ifdef __APPLE__
#define LIBRARY "libqrencode.4.dylib"
#else
#define LIBRARY "libqrencode.so.4"
#endif

/// The lowest version that this was tried with (Libraries.tsv).
#define LOWEST "4.0.0"

// The library's own structure has these three members in this order (qrencode.h, version 4).
static struct {
  struct tender_qr *(*encode)(const char *, int, int);
  void (*free)(struct tender_qr *);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem = NULL;

static void open_once(void) {
  void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    problem = "libqrencode could not be opened (" LIBRARY
              "): install it with `apt-get install libqrencode4` or `brew install qrencode`";
    return;
  }
  *(void **)&api.encode = dlsym(library, "QRcode_encodeString8bit");
  *(void **)&api.free = dlsym(library, "QRcode_free");
  if (!api.encode || !api.free) problem = "libqrencode has other functions than version 4";
  // Which version it is, the library says that was opened.
  char *(*text)(void) = NULL;
  *(void **)&text = dlsym(library, "QRcode_APIVersionString");
  const char *version = problem || !text ? NULL : text();
  if (!problem && !tender_system_is_version(version, LOWEST))
    problem = "libqrencode is too old: tender needs " LOWEST " or later";
}

const char *tender_qr_open(void) {
  pthread_once(&once, open_once);
  return problem;
}

struct tender_qr *tender_qr_encode(const char *text) { return api.encode(text, 0, 0); }

void tender_qr_free(struct tender_qr *code) { api.free(code); }
