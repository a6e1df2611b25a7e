// Text files, embedded at build.
#ifndef TENDER_CPAGES_H
#define TENDER_CPAGES_H

#include <stddef.h>

/// A text file: its path below `Sources`, and its content in UTF-8 without a zero at its end.
struct tender_text {
  const char *path;
  const unsigned char *bytes;
  size_t count;
};

/// The file at an index of the list; NULL after the last one.
const struct tender_text *tender_text_at(size_t place);

/// The file of a path; NULL if there is none.
const struct tender_text *tender_text_named(const char *path);

#endif
