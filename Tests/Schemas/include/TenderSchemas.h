// Validation of XML by libxml2, for tests.
#ifndef TENDER_SCHEMAS_H
#define TENDER_SCHEMAS_H

#include <stddef.h>

/// Validates bytes against the schema in a file. Returns 0 if they are valid, else libxml2's result; -1 if
/// the schema cannot be read. Writes the first complaint into `why`.
int tender_schema_validate(const char *schema_path, const char *bytes, int count, char *why,
                           size_t why_size);

#endif
