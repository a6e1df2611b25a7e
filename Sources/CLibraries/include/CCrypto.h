// OpenSSL's libcrypto, opened on first use.
#ifndef TENDER_CCRYPTO_H
#define TENDER_CCRYPTO_H

#include <stddef.h>

/// Opens the library once. Returns NULL, or the reason why it cannot be used.
const char *tender_crypto_open(void);

/// SHA-1 of `count` bytes into 20 bytes; 1 on success. Only the WebSocket handshake needs it.
int tender_crypto_sha1(const void *bytes, size_t count, unsigned char *digest);

/// The size of a P-521 signature in JWS: r and s, 66 bytes each (RFC 7518, section 3.4).
#define TENDER_ES512_SIZE 132

/// Signs with the private key of a PEM text, ECDSA on P-521 over SHA-512, into 132 bytes. Returns 1 on
/// success, and 0 if the text is no private key. Returns -1 if the key is on another curve, -2 if the library
/// failed.
int tender_crypto_sign_es512(const void *pem, size_t pem_count, const void *bytes, size_t count,
                             unsigned char *signature);
/// Checks a 132-byte signature with the public key of a PEM text. Returns 1 if it is valid, else 0, or one of
/// the numbers above.
int tender_crypto_verify_es512(const void *pem, size_t pem_count, const void *bytes, size_t count,
                               const unsigned char *signature);

/// The size of the longest PEM text of a P-521 key, with the zero after it.
#define TENDER_ES512_PEM_SIZE 512
/// Creates a P-521 key, as PEM texts of its private (PKCS #8) and public half. Each has
/// TENDER_ES512_PEM_SIZE. Returns 1 on success.
int tender_crypto_make_es512(char *private_pem, char *public_pem);
/// 1 if a PEM text is a P-521 public key; 0 if it is not, -1 if it is on another curve.
int tender_crypto_check_es512(const void *pem, size_t pem_count);

/// PBKDF2 (RFC 8018, section 5.2) under HMAC with `digest` ("SHA1", "SHA256", "SHA512"). Writes `size` bytes
/// into `key`. Returns 1 on success, 0 for an unknown digest.
int tender_crypto_pbkdf2(const char *digest, const void *password, size_t password_count,
                         const void *salt, size_t salt_count, int iterations, unsigned char *key,
                         size_t size);

/// CMAC under AES (NIST SP 800-38B) with a key of 16, 24 or 32 bytes. Writes 16 bytes into `mac`. Returns 1
/// on success.
int tender_crypto_cmac(const void *key, size_t key_count, const void *bytes, size_t count,
                       unsigned char *mac);

/// Two-key triple DES over whole blocks of 8 bytes, without padding. It uses CBC, or each block alone if
/// `vector` is NULL. Returns 1 on success.
int tender_crypto_tdes(const void *key, const void *vector, int encrypting, const void *bytes,
                       size_t count, unsigned char *result);

#endif
