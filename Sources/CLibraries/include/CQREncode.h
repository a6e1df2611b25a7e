// libqrencode, opened on first use. The few needed declarations are here.
#ifndef TENDER_CQRENCODE_H
#define TENDER_CQRENCODE_H

/// Opens the library once. Returns NULL, or the reason why it cannot be used.
const char *tender_qr_open(void);

/// A square of modules. A module is dark if the lowest bit of its byte is set.
struct tender_qr {
  int version;
  int width;
  unsigned char *data;
};

/// Encodes a text with the least error correction; NULL if it does not fit.
struct tender_qr *tender_qr_encode(const char *text);
void tender_qr_free(struct tender_qr *code);

#endif
