// PCRE2, opened on first use: one search with a pattern from outside.
#ifndef TENDER_CPCRE2_H
#define TENDER_CPCRE2_H

#include <stddef.h>

/// Opens the library once. Returns NULL, or the reason why it cannot be used.
const char *tender_pattern_open(void);

/// Returns 1 if a UTF-8 pattern matches at the beginning of a UTF-8 text, and 0 if it does not. Returns -1 if it
/// does not compile, or if its match reaches a limit.
int tender_pattern_fits(const char *pattern, size_t size, const char *text, size_t length);

#endif
