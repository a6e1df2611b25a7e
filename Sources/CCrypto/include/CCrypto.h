// OpenSSL's libcrypto, opened on first use.
#ifndef TENDER_CCRYPTO_H
#define TENDER_CCRYPTO_H

#include <stddef.h>

/// Opens the library once; NULL, or why it could not be opened.
const char *tender_crypto_open(void);

/// SHA-1 of `count` bytes into 20 bytes; 1 where it worked. Only the WebSocket handshake needs it.
int tender_crypto_sha1(const void *bytes, size_t count, unsigned char *digest);

/// The bytes of a P-521 signature as JWS writes it: r and s, 66 bytes each (RFC 7518, section 3.4).
#define TENDER_ES512_SIZE 132

/// Signs with the private key of a PEM text, ECDSA on P-521 over SHA-512, into 132 bytes.
/// 1 where it worked; 0 where the text is no private key, -1 where the key is on another curve,
/// -2 where the library failed.
int tender_crypto_sign_es512(const void *pem, size_t pem_count, const void *bytes, size_t count,
                             unsigned char *signature);
/// Checks a 132-byte signature with the public key of a PEM text: 1 where it fits, else 0, or one
/// of the numbers above.
int tender_crypto_verify_es512(const void *pem, size_t pem_count, const void *bytes, size_t count,
                               const unsigned char *signature);

#endif
