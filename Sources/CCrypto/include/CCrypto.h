// OpenSSL's libcrypto, opened on first use.
#ifndef TENDER_CCRYPTO_H
#define TENDER_CCRYPTO_H

#include <stddef.h>

/// Opens the library once; NULL, or why it could not be opened.
const char *tender_crypto_open(void);

/// SHA-1 of `count` bytes into 20 bytes; 1 where it worked. Only the WebSocket handshake needs it.
int tender_crypto_sha1(const void *bytes, size_t count, unsigned char *digest);

#endif
