#include "CXML2.h"

#include "CSystem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The few prototypes that are needed (libxml2's xmlreader.h, xmlschemas.h); the headers are not, so
// that building asks for no more than running does.
typedef struct _doc doc_t;
typedef struct _schema schema_t;
typedef struct _schema_parser schema_parser_t;
typedef struct _schema_valid schema_valid_t;
typedef void (*error_f)(void *, const char *, ...);
typedef void (*reader_error_f)(void *, const char *, int, void *);

// XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET | XML_PARSE_COMPACT
#define OPTIONS (32 | 64 | 2048 | 65536)

/// The lowest version that this was tried with (Libraries.tsv).
#define LOWEST "20910"

static struct {
  struct tender_xml *(*reader)(const char *, int, const char *, const char *, int);
  int (*read)(struct tender_xml *);
  int (*kind)(struct tender_xml *);
  int (*is_empty)(struct tender_xml *);
  const unsigned char *(*name)(struct tender_xml *);
  const unsigned char *(*namespace)(struct tender_xml *);
  const unsigned char *(*value)(struct tender_xml *);
  void (*free_reader)(struct tender_xml *);
  void (*set_errors)(struct tender_xml *, reader_error_f, void *);
  schema_parser_t *(*schema_parser)(const char *);
  schema_t *(*schema)(schema_parser_t *);
  void (*free_schema_parser)(schema_parser_t *);
  void (*free_schema)(schema_t *);
  schema_valid_t *(*validator)(schema_t *);
  void (*free_validator)(schema_valid_t *);
  void (*set_valid_errors)(schema_valid_t *, error_f, error_f, void *);
  int (*validate)(schema_valid_t *, doc_t *);
  doc_t *(*document)(const char *, int, const char *, const char *, int);
  void (*free_document)(doc_t *);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem = NULL;

#ifdef __APPLE__
static const char *const libraries[] = {"libxml2.2.dylib", "/usr/lib/libxml2.2.dylib"};
#else
// The functions used here are the same in both series.
static const char *const libraries[] = {"libxml2.so.2", "libxml2.so.16"};
#endif

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) problem = "libxml2 is too old: a function that tender needs is missing";
  return found;
}

static void open_once(void) {
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    problem = "libxml2 could not be opened (libxml2.so.2): install it with "
              "`apt-get install libxml2` or `brew install libxml2`";
    return;
  }
  *(void **)&api.reader = symbol(library, "xmlReaderForMemory");
  *(void **)&api.read = symbol(library, "xmlTextReaderRead");
  *(void **)&api.kind = symbol(library, "xmlTextReaderNodeType");
  *(void **)&api.is_empty = symbol(library, "xmlTextReaderIsEmptyElement");
  *(void **)&api.name = symbol(library, "xmlTextReaderConstLocalName");
  *(void **)&api.namespace = symbol(library, "xmlTextReaderConstNamespaceUri");
  *(void **)&api.value = symbol(library, "xmlTextReaderConstValue");
  *(void **)&api.free_reader = symbol(library, "xmlFreeTextReader");
  *(void **)&api.set_errors = symbol(library, "xmlTextReaderSetErrorHandler");
  *(void **)&api.schema_parser = symbol(library, "xmlSchemaNewParserCtxt");
  *(void **)&api.schema = symbol(library, "xmlSchemaParse");
  *(void **)&api.free_schema_parser = symbol(library, "xmlSchemaFreeParserCtxt");
  *(void **)&api.free_schema = symbol(library, "xmlSchemaFree");
  *(void **)&api.validator = symbol(library, "xmlSchemaNewValidCtxt");
  *(void **)&api.free_validator = symbol(library, "xmlSchemaFreeValidCtxt");
  *(void **)&api.set_valid_errors = symbol(library, "xmlSchemaSetValidErrors");
  *(void **)&api.validate = symbol(library, "xmlSchemaValidateDoc");
  *(void **)&api.document = symbol(library, "xmlReadMemory");
  *(void **)&api.free_document = symbol(library, "xmlFreeDoc");
  // Which version it is, the library says that was opened.
  // 2.9.14 is 20914.
  const char **text = symbol(library, "xmlParserVersion");
  const char *version = problem ? NULL : *text;
  if (!problem && !tender_system_is_version(version, LOWEST))
    problem = "libxml2 is too old: tender needs " LOWEST " or later";
}

const char *tender_xml_open(void) {
  pthread_once(&once, open_once);
  return problem;
}

// What is wrong is said by the caller; nothing is printed.
static void ignore(void *context, const char *message, int severity, void *locator) {
  (void)context, (void)message, (void)severity, (void)locator;
}

struct tender_xml *tender_xml_begin(const char *bytes, int count) {
  struct tender_xml *reader = api.reader(bytes, count, NULL, "UTF-8", OPTIONS);
  if (reader) api.set_errors(reader, ignore, NULL);
  return reader;
}

int tender_xml_next(struct tender_xml *reader) { return api.read(reader); }

int tender_xml_kind(struct tender_xml *reader) { return api.kind(reader); }

int tender_xml_is_empty(struct tender_xml *reader) { return api.is_empty(reader); }

const char *tender_xml_name(struct tender_xml *reader) { return (const char *)api.name(reader); }

const char *tender_xml_namespace(struct tender_xml *reader) {
  return (const char *)api.namespace(reader);
}

const char *tender_xml_value(struct tender_xml *reader) { return (const char *)api.value(reader); }

void tender_xml_end(struct tender_xml *reader) { api.free_reader(reader); }

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

int tender_xml_validate(const char *schema_path, const char *bytes, int count, char *why,
                        size_t why_size) {
  struct complaint complaint = {why, why_size};
  if (why_size) why[0] = 0;
  schema_parser_t *parser = api.schema_parser(schema_path);
  schema_t *schema = parser ? api.schema(parser) : NULL;
  if (parser) api.free_schema_parser(parser);
  if (!schema) return -1;
  int status = -1;
  doc_t *document = api.document(bytes, count, NULL, "UTF-8", OPTIONS);
  schema_valid_t *validator = document ? api.validator(schema) : NULL;
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
