#include "CQREncode.h"

#include "Library.h"

// The library's structure has these three members in this order (qrencode.h, version 4).
#define FUNCTIONS(F) \
  F(struct tender_qr *, QRcode_encodeString8bit, (const char *, int, int)) \
  F(void, QRcode_free, (struct tender_qr *)) \
  F(char *, QRcode_APIVersionString, (void))

static struct { FUNCTIONS(TYPED_MEMBER) } api;
static const char *const names[] = {FUNCTIONS(TYPED_NAME)};

static const char *version(void) { return api.QRcode_APIVersionString(); }

const char *tender_qr_open(void) {
  static struct library library = LIBRARY(
      "libqrencode", "4.0.0", "libqrencode4", "qrencode", NULL,
      FILES(("libqrencode.so.4"), ("libqrencode.4.dylib")));
  return tender_library_open(&library);
}

struct tender_qr *tender_qr_encode(const char *text) {
  return api.QRcode_encodeString8bit(text, 0, 0);
}

void tender_qr_free(struct tender_qr *code) { api.QRcode_free(code); }
