#include "CPCRE2.h"

#include "Library.h"

#include <stdint.h>
#include <string.h>

// PCRE2_ANCHORED | PCRE2_NEVER_BACKSLASH_C | PCRE2_UTF | PCRE2_NO_AUTO_CAPTURE | PCRE2_DOLLAR_ENDONLY
// | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS: the last three are ECMAScript's meaning. Groups without
// captures need little memory.
#define OPTIONS (0x80000000u | 0x00100000u | 0x00080000u | 0x2000u | 0x10u | 0x2u | 0x1u)

// Calls of the matcher, and KiB. The time of a call is linear in the text.
#define MATCH_LIMIT 200000
#define HEAP_LIMIT 16384

// The few needed prototypes (pcre2.h, 8-bit).
#define FUNCTIONS(F) \
  F(int, pcre2_config_8, (uint32_t, void *)) \
  F(void *, pcre2_compile_8, (const char *, size_t, uint32_t, int *, size_t *, void *)) \
  F(void, pcre2_code_free_8, (void *)) \
  F(void *, pcre2_match_context_create_8, (void *)) \
  F(void, pcre2_match_context_free_8, (void *)) \
  F(int, pcre2_set_match_limit_8, (void *, uint32_t)) \
  F(int, pcre2_set_depth_limit_8, (void *, uint32_t)) \
  F(int, pcre2_set_heap_limit_8, (void *, uint32_t)) \
  F(void *, pcre2_match_data_create_8, (uint32_t, void *)) \
  F(void, pcre2_match_data_free_8, (void *)) \
  F(int, pcre2_match_8, (const void *, const char *, size_t, size_t, uint32_t, void *, void *))

static struct { FUNCTIONS(TYPED_MEMBER) } api;
static const char *const names[] = {FUNCTIONS(TYPED_NAME)};

// PCRE2_CONFIG_VERSION is 11. The version is before the date, as in `10.42 2022-12-11`.
static const char *version(void) {
  static char text[64];
  api.pcre2_config_8(11, text);
  text[strcspn(text, " ")] = 0;
  return text;
}

const char *tender_pattern_open(void) {
  static struct library library = LIBRARY(
      "libpcre2-8", "10.36", "libpcre2-8-0", "pcre2", NULL,
      FILES(("libpcre2-8.so.0"), ("libpcre2-8.0.dylib")));
  return tender_library_open(&library);
}

int tender_pattern_fits(const char *pattern, size_t size, const char *text, size_t length) {
  int problem, found = 0;
  size_t place;
  void *code = api.pcre2_compile_8(pattern, size, OPTIONS, &problem, &place, NULL);
  void *limits = api.pcre2_match_context_create_8(NULL);
  void *data = api.pcre2_match_data_create_8(1, NULL);
  int is_ready = code && limits && data;
  if (is_ready) {
    api.pcre2_set_match_limit_8(limits, MATCH_LIMIT);
    api.pcre2_set_depth_limit_8(limits, MATCH_LIMIT);
    api.pcre2_set_heap_limit_8(limits, HEAP_LIMIT);
    found = api.pcre2_match_8(code, text, length, 0, 0, data, limits);
  }
  api.pcre2_match_data_free_8(data);
  api.pcre2_match_context_free_8(limits);
  api.pcre2_code_free_8(code);
  // PCRE2_ERROR_NOMATCH is -1.
  return is_ready && found >= -1 ? found >= 0 : -1;
}
