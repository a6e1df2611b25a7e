// A system library that is opened on first use: what every shim needs of it.
#ifndef TENDER_LIBRARY_H
#define TENDER_LIBRARY_H

#include "CSystem.h"

#include <stddef.h>

/// A library, the functions of it that are needed, and what to say where it cannot be used.
struct library {
  /// File names, tried in turn.
  const char *files[3];
  const char *not_found;
  const char *incomplete;
  /// Returns what is wrong with the version that was opened, or NULL.
  const char *(*check)(void);
  /// Names of functions, and a structure of as many pointers to them.
  const char *const *names;
  size_t count;
  void *functions;
  int is_tried;
  const char *problem;
};

/// Opens a library once; NULL, or why it cannot be used.
const char *tender_library_open(struct library *library);

// A table FUNCTIONS(F) names each function once, F(name): it becomes the members of a structure, and
// the names to look up. The first needs the library's header.
#define MEMBER(name) __typeof__(name) *name;
#define NAME(name) #name,

// The same where there is no header: F(result, name, parameters).
#define TYPED_MEMBER(result, name, parameters) result(*name) parameters;
#define TYPED_NAME(result, name, parameters) #name,

#endif
