// A system library that is opened on first use, and the tools that every shim shares.
#ifndef TENDER_LIBRARY_H
#define TENDER_LIBRARY_H

#include "CSystem.h"

#include <stddef.h>

/// A library, its needed functions, and the messages if it cannot be used.
struct library {
  /// File names, tried in order.
  const char *files[3];
  const char *name;
  const char *not_found;
  const char *incomplete;
  /// The lowest tested version, and the function that returns the version of the opened library.
  const char *lowest;
  const char *(*version)(void);
  /// Initializes the library. Returns NULL, or the reason why it cannot be used. NULL if there is nothing to do.
  const char *(*begin)(void);
  /// Names of functions, and a structure with a pointer for each of them.
  const char *const *names;
  size_t count;
  void *functions;
  int is_tried;
  const char *problem;
  /// The message if it is too old; its name and version once it is open.
  char text[80];
  struct library *next;
};

/// Opens a library once. Returns NULL, or the reason why it cannot be used.
const char *tender_library_open(struct library *library);

// A table FUNCTIONS(F) names each function once, as F(name). It makes the members of a structure, and the
// names to look up. The first macro needs the library's header.
#define MEMBER(name) __typeof__(name) *name;
#define NAME(name) #name,

// The same without a header: F(result, name, parameters).
#define TYPED_MEMBER(result, name, parameters) result(*name) parameters;
#define TYPED_NAME(result, name, parameters) #name,

#endif
