#include "CQREncode.h"

#include "Library.h"

#ifdef __APPLE__
#define LIBRARY "libqrencode.4.dylib"
#else
#define LIBRARY "libqrencode.so.4"
#endif

/// The lowest tested version (Libraries.tsv).
#define LOWEST "4.0.0"

// The library's structure has these three members in this order (qrencode.h, version 4).
#define FUNCTIONS(F) \
  F(struct tender_qr *, QRcode_encodeString8bit, (const char *, int, int)) \
  F(void, QRcode_free, (struct tender_qr *)) \
  F(char *, QRcode_APIVersionString, (void))

static struct { FUNCTIONS(TYPED_MEMBER) } api;
static const char *const names[] = {FUNCTIONS(TYPED_NAME)};

static const char *version(void) { return api.QRcode_APIVersionString(); }

const char *tender_qr_open(void) {
  static struct library library = {
      .files = {LIBRARY},
      .not_found = "libqrencode could not be opened (" LIBRARY
                   "): install it with `apt-get install libqrencode4` or `brew install qrencode`",
      .incomplete = "libqrencode has other functions than version 4",
      .name = "libqrencode", .lowest = LOWEST, .version = version,
      .names = names, .count = sizeof names / sizeof *names, .functions = &api,
  };
  return tender_library_open(&library);
}

struct tender_qr *tender_qr_encode(const char *text) {
  return api.QRcode_encodeString8bit(text, 0, 0);
}

void tender_qr_free(struct tender_qr *code) { api.QRcode_free(code); }
