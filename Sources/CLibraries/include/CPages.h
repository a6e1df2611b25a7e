// Texts for people, embedded at build.
#ifndef TENDER_CPAGES_H
#define TENDER_CPAGES_H

#include <stddef.h>

/// The `Pages.txt` of a room: UTF-8 without a zero at its end.
struct tender_pages {
  const char *room;
  const unsigned char *bytes;
  size_t count;
};

/// The file at an index of the list of rooms; NULL after the last one.
const struct tender_pages *tender_pages_at(size_t place);

#endif
