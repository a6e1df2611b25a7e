// libqrencode, opened on first use: the few declarations that are needed stand here.
#ifndef TENDER_CQRENCODE_H
#define TENDER_CQRENCODE_H

/// Opens the library once; NULL, or why it could not be opened.
const char *tender_qr_open(void);

/// A square of modules; the lowest bit of each byte says whether it is dark.
struct tender_qr {
  int version;
  int width;
  unsigned char *data;
};

/// Encodes a text with the least error correction; NULL where it does not fit.
struct tender_qr *tender_qr_encode(const char *text);
void tender_qr_free(struct tender_qr *code);

#endif
