#include "CPages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char engine[] = {
#embed "../TenderEngine/Pages.txt"
};
static const unsigned char command_line[] = {
#embed "../TenderCommandLine/Pages.txt"
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

static const struct tender_pages rooms[] = {
    {"TenderEngine", engine, sizeof engine},
    {"TenderCommandLine", command_line, sizeof command_line},
    {"PayTheory", paytheory, sizeof paytheory},
    {"Toro", toro, sizeof toro},
    {"TrueLayer", truelayer, sizeof truelayer},
};

const struct tender_pages *tender_pages_at(size_t place) {
  return place < sizeof rooms / sizeof *rooms ? &rooms[place] : NULL;
}
