#include "CPages.h"

#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char engine[] = {
#embed "../TenderEngine/Pages.txt"
};
static const unsigned char command_line[] = {
#embed "../TenderCommandLine/Pages.txt"
};
static const unsigned char tables[] = {
#embed "../TenderJournal/Tables.sql"
};
static const unsigned char shared_tables[] = {
#embed "../TenderJournal/Shared/Tables.sql"
};
static const unsigned char grants[] = {
#embed "../TenderJournal/Shared/Grants.sql"
};
static const unsigned char paytheory[] = {
#embed "../PayTheory/Pages.txt"
};
static const unsigned char toro[] = {
#embed "../Toro/Pages.txt"
};
static const unsigned char truelayer[] = {
#embed "../TrueLayer/Pages.txt"
};
static const unsigned char records[] = {
#embed "../TenderCommandLine/Output/Records.txt"
};
static const unsigned char countries[] = {
#embed "../TenderModel/Countries.txt"
};
static const unsigned char schema[] = {
#embed "../TenderSimulator/PayTheory/Schema.graphql"
};
static const unsigned char requests[] = {
#embed "../TenderSimulator/TrueLayer/Requests.txt"
};
static const unsigned char elements[] = {
#embed "../TenderSimulator/Toro/Elements.txt"
};
static const unsigned char codes[] = {
#embed "../TenderSimulator/Toro/Codes.txt"
};
static const unsigned char types[] = {
#embed "../TenderSimulator/Toro/Types.txt"
};
static const unsigned char bash[] = {
#embed "../../completions/tender.bash"
};
static const unsigned char zsh[] = {
#embed "../../completions/_tender"
};
static const unsigned char fish[] = {
#embed "../../completions/tender.fish"
};

static const struct tender_text texts[] = {
    {"TenderEngine/Pages.txt", engine, sizeof engine},
    {"TenderCommandLine/Pages.txt", command_line, sizeof command_line},
    {"TenderJournal/Tables.sql", tables, sizeof tables},
    {"TenderJournal/Shared/Tables.sql", shared_tables, sizeof shared_tables},
    {"TenderJournal/Shared/Grants.sql", grants, sizeof grants},
    {"PayTheory/Pages.txt", paytheory, sizeof paytheory},
    {"Toro/Pages.txt", toro, sizeof toro},
    {"TrueLayer/Pages.txt", truelayer, sizeof truelayer},
    {"TenderCommandLine/Output/Records.txt", records, sizeof records},
    {"TenderModel/Countries.txt", countries, sizeof countries},
    {"TenderSimulator/PayTheory/Schema.graphql", schema, sizeof schema},
    {"TenderSimulator/TrueLayer/Requests.txt", requests, sizeof requests},
    {"TenderSimulator/Toro/Elements.txt", elements, sizeof elements},
    {"TenderSimulator/Toro/Codes.txt", codes, sizeof codes},
    {"TenderSimulator/Toro/Types.txt", types, sizeof types},
    {"../completions/tender.bash", bash, sizeof bash},
    {"../completions/_tender", zsh, sizeof zsh},
    {"../completions/tender.fish", fish, sizeof fish},
};

const struct tender_text *tender_text_at(size_t place) {
  return place < sizeof texts / sizeof *texts ? &texts[place] : NULL;
}

const struct tender_text *tender_text_named(const char *path) {
  for (size_t place = 0; place < sizeof texts / sizeof *texts; place++) {
    if (strcmp(texts[place].path, path) == 0) return &texts[place];
  }
  return NULL;
}
