// A system library that is opened on first use, and the tools that every shim shares.
#ifndef TENDER_LIBRARY_H
#define TENDER_LIBRARY_H

#include "CSystem.h"

#include <stddef.h>

/// A library and its needed functions.
struct library {
  const char *name;
  /// The lowest tested version (Libraries.tsv). It has all the functions.
  const char *lowest;
  /// The packages to install: Debian's and Homebrew's.
  const char *debian, *brew;
  /// File names, tried in order.
  const char *files[3];
  /// Returns the version of the opened library.
  const char *(*version)(void);
  /// Initializes the library. Returns NULL, or the reason why it cannot be used. NULL if there is nothing to do.
  const char *(*begin)(void);
  /// Names of functions, and a structure with a pointer for each of them.
  const char *const *names;
  size_t count;
  void *functions;
  int is_tried;
  const char *problem;
  /// The reason why it cannot be used; its name and version once it is open.
  char text[160];
  struct library *next;
};

/// The values of a library whose functions are `api` and `names`, and whose version `version` returns. FILES is
/// the last argument.
#define LIBRARY(library_name, lowest_version, debian_package, brew_package, begin_or_null, ...) \
  { \
    .name = library_name, .lowest = lowest_version, .debian = debian_package, .brew = brew_package, \
    .begin = begin_or_null, .files = {__VA_ARGS__}, .version = version, .names = names, \
    .count = sizeof names / sizeof *names, .functions = &api, \
  }

/// The file names on this system, from a list for Linux and one for macOS, each in parentheses.
#ifdef __APPLE__
#define FILES(linux_names, apple_names) UNWRAPPED apple_names
#else
#define FILES(linux_names, apple_names) UNWRAPPED linux_names
#endif
#define UNWRAPPED(...) __VA_ARGS__

/// Opens a library once. Returns NULL, or the reason why it cannot be used.
const char *tender_library_open(struct library *library);

// A table FUNCTIONS(F) names each function once, as F(name). It makes the members of a structure, and the
// names to look up. The first macro needs the library's header.
#define MEMBER(name) __typeof__(name) *name;
#define NAME(name) #name,

// The same without a header: F(result, name, parameters), or with the arguments of a call behind them.
#define TYPED_MEMBER(result, name, parameters, ...) result(*name) parameters;
#define TYPED_NAME(result, name, parameters, ...) #name,

#endif
