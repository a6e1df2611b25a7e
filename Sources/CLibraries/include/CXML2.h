// libxml2, opened on first use: a pull reader over bytes in memory.
#ifndef TENDER_CXML2_H
#define TENDER_CXML2_H

/// Opens the library once. Returns NULL, or the reason why it cannot be used.
const char *tender_xml_open(void);

/// The kinds of nodes, with libxml2's numbers (xmlreader.h, xmlReaderTypes).
#define TENDER_XML_ELEMENT 1
#define TENDER_XML_TEXT 3
#define TENDER_XML_CDATA 4
#define TENDER_XML_INSTRUCTION 7
#define TENDER_XML_COMMENT 8
#define TENDER_XML_SPACE 13
#define TENDER_XML_SIGNIFICANT_SPACE 14
#define TENDER_XML_END 15

struct tender_xml;

/// Creates a reader over UTF-8 bytes, which must stay at their address. It has no network and no entities,
/// and lifts no limits.
struct tender_xml *tender_xml_begin(const char *bytes, int count);
/// Moves to the next node. Returns 1, 0 at the end, or -1 if the text is not well formed.
int tender_xml_next(struct tender_xml *reader);
int tender_xml_kind(struct tender_xml *reader);
int tender_xml_is_empty(struct tender_xml *reader);
/// The local name, the namespace or the value of the node, or NULL; valid until the next step.
const char *tender_xml_name(struct tender_xml *reader);
const char *tender_xml_namespace(struct tender_xml *reader);
const char *tender_xml_value(struct tender_xml *reader);
void tender_xml_end(struct tender_xml *reader);

#endif
