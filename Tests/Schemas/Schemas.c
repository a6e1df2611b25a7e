#include "TenderSchemas.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

// XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET | XML_PARSE_COMPACT
#define OPTIONS (32 | 64 | 2048 | 65536)

typedef void (*error_f)(void *, const char *, ...);

// The few needed prototypes (libxml2's xmlschemas.h).
static struct {
  void *(*schema_parser)(const char *);
  void *(*schema)(void *);
  void (*free_schema_parser)(void *);
  void (*free_schema)(void *);
  void *(*validator)(void *);
  void (*free_validator)(void *);
  void (*set_valid_errors)(void *, error_f, error_f, void *);
  int (*validate)(void *, void *);
  void *(*document)(const char *, int, const char *, const char *, int);
  void (*free_document)(void *);
} api;

static const char *const names[] = {
    "xmlSchemaNewParserCtxt", "xmlSchemaParse", "xmlSchemaFreeParserCtxt", "xmlSchemaFree",
    "xmlSchemaNewValidCtxt", "xmlSchemaFreeValidCtxt", "xmlSchemaSetValidErrors",
    "xmlSchemaValidateDoc", "xmlReadMemory", "xmlFreeDoc",
};

static int open_library(void) {
  static const char *const files[] = {"libxml2.so.2", "libxml2.so.16", "libxml2.2.dylib",
                                      "/usr/lib/libxml2.2.dylib"};
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof files / sizeof *files; i++)
    library = dlopen(files[i], RTLD_LAZY | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof names / sizeof *names; i++)
    if (!(((void **)&api)[i] = dlsym(library, names[i]))) return 0;
  return library != NULL;
}

struct complaint {
  char *text;
  size_t size;
};

static void complain(void *context, const char *format, ...) {
  struct complaint *complaint = context;
  if (complaint->text[0]) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(complaint->text, complaint->size, format, arguments);
  va_end(arguments);
}

int tender_schema_validate(const char *schema_path, const char *bytes, int count, char *why,
                           size_t why_size) {
  struct complaint complaint = {why, why_size};
  if (why_size) why[0] = 0;
  void *parser = open_library() ? api.schema_parser(schema_path) : NULL;
  void *schema = parser ? api.schema(parser) : NULL;
  if (parser) api.free_schema_parser(parser);
  if (!schema) return -1;
  int status = -1;
  void *document = api.document(bytes, count, NULL, "UTF-8", OPTIONS);
  void *validator = document ? api.validator(schema) : NULL;
  if (validator) {
    api.set_valid_errors(validator, complain, complain, &complaint);
    status = api.validate(validator, document);
    api.free_validator(validator);
  } else {
    complain(&complaint, "not well formed");
  }
  if (document) api.free_document(document);
  api.free_schema(schema);
  return status;
}
