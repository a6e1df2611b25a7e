// Validation of XML by libxml2, for tests.
#ifndef TENDER_SCHEMAS_H
#define TENDER_SCHEMAS_H

#include <stddef.h>

/// Validates bytes against the schema in a file: 0 where they fit, else what libxml2 returns; -1
/// where the schema cannot be read. The first complaint is written into `why`.
int tender_schema_validate(const char *schema_path, const char *bytes, int count, char *why,
                           size_t why_size);

#endif
