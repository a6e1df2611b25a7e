#include "CCrypto.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <pthread.h>

#ifdef __APPLE__
#define LIBRARY "libcrypto.3.dylib"
#else
#define LIBRARY "libcrypto.so.3"
#endif

static struct {
  int (*digest)(const void *, size_t, unsigned char *, unsigned int *, const EVP_MD *, ENGINE *);
  const EVP_MD *(*sha1)(void);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem = NULL;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) problem = "libcrypto is too old: a function that tender needs is missing in " LIBRARY;
  return found;
}

static void open_once(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    problem = "libcrypto could not be opened (" LIBRARY
              "): install it with `apt-get install libssl3` or `brew install openssl@3`";
    return;
  }
  *(void **)&api.digest = symbol(library, "EVP_Digest");
  *(void **)&api.sha1 = symbol(library, "EVP_sha1");
}

const char *tender_crypto_open(void) {
  pthread_once(&once, open_once);
  return problem;
}

int tender_crypto_sha1(const void *bytes, size_t count, unsigned char *digest) {
  unsigned int length = 0;
  return api.digest(bytes, count, digest, &length, api.sha1(), NULL) == 1 && length == 20;
}
