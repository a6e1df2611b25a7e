#include "CXML2.h"

#include "Library.h"

#include <stdio.h>
#include <stdlib.h>

// XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET | XML_PARSE_COMPACT
#define OPTIONS (32 | 64 | 2048 | 65536)

// The few needed prototypes (libxml2's xmlreader.h). Without its headers, a build needs no more than a run.
// The last one is a variable.
#define FUNCTIONS(F) \
  F(struct tender_xml *, xmlReaderForMemory, (const char *, int, const char *, const char *, int)) \
  F(int, xmlTextReaderRead, (struct tender_xml *)) \
  F(int, xmlTextReaderNodeType, (struct tender_xml *)) \
  F(int, xmlTextReaderIsEmptyElement, (struct tender_xml *)) \
  F(const char *, xmlTextReaderConstLocalName, (struct tender_xml *)) \
  F(const char *, xmlTextReaderConstNamespaceUri, (struct tender_xml *)) \
  F(const char *, xmlTextReaderConstValue, (struct tender_xml *)) \
  F(void, xmlFreeTextReader, (struct tender_xml *)) \
  F(void, xmlTextReaderSetErrorHandler, \
    (struct tender_xml *, void (*)(void *, const char *, int, void *), void *)) \
  F(const char *, xmlParserVersion, )

static struct { FUNCTIONS(TYPED_MEMBER) } api;
static const char *const names[] = {FUNCTIONS(TYPED_NAME)};

// The library says 20910 for 2.9.10.
static const char *version(void) {
  static char text[24];
  int number = atoi(*api.xmlParserVersion);
  snprintf(text, sizeof text, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
  return text;
}

const char *tender_xml_open(void) {
  // The functions used here are the same in both series.
  static struct library library = LIBRARY(
      "libxml2", "2.9.10", "libxml2", "libxml2", NULL,
      FILES(("libxml2.so.2", "libxml2.so.16"), ("libxml2.2.dylib", "/usr/lib/libxml2.2.dylib")));
  return tender_library_open(&library);
}

// The caller reports errors, so the library prints nothing.
static void ignore(void *context, const char *message, int severity, void *locator) {
  (void)context, (void)message, (void)severity, (void)locator;
}

struct tender_xml *tender_xml_begin(const char *bytes, int count) {
  struct tender_xml *reader = api.xmlReaderForMemory(bytes, count, NULL, "UTF-8", OPTIONS);
  if (reader) api.xmlTextReaderSetErrorHandler(reader, ignore, NULL);
  return reader;
}

int tender_xml_next(struct tender_xml *reader) { return api.xmlTextReaderRead(reader); }
int tender_xml_kind(struct tender_xml *reader) { return api.xmlTextReaderNodeType(reader); }
int tender_xml_is_empty(struct tender_xml *reader) {
  return api.xmlTextReaderIsEmptyElement(reader);
}
const char *tender_xml_name(struct tender_xml *reader) {
  return api.xmlTextReaderConstLocalName(reader);
}
const char *tender_xml_namespace(struct tender_xml *reader) {
  return api.xmlTextReaderConstNamespaceUri(reader);
}
const char *tender_xml_value(struct tender_xml *reader) {
  return api.xmlTextReaderConstValue(reader);
}
void tender_xml_end(struct tender_xml *reader) { api.xmlFreeTextReader(reader); }
