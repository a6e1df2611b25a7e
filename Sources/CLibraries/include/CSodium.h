// libsodium (sodium.h): the functions used here, under their own names. The first call opens the library.
#ifndef TENDER_CSODIUM_H
#define TENDER_CSODIUM_H

#include <stddef.h>
#include <stdint.h>

/// Opens libsodium. Returns NULL, or the reason why it cannot be used. A later call of a function then ends the
/// process.
const char *tender_sodium_open(void);

// Without the library's headers, a build needs no more than a run. F(result, name, parameters, arguments)
#define TENDER_SODIUM_FUNCTIONS(F) \
  F(void, sodium_memzero, (void *bytes, size_t count), (bytes, count)) \
  F(int, sodium_memcmp, (const void *one, const void *other, size_t count), (one, other, count)) \
  F(void *, sodium_malloc, (size_t size), (size)) \
  F(void, sodium_free, (void *block), (block)) \
  F(uint32_t, randombytes_random, (void), ()) \
  F(void, randombytes_buf, (void *bytes, size_t count), (bytes, count)) \
  F(void, randombytes_buf_deterministic, (void *bytes, size_t count, const unsigned char *seed), \
    (bytes, count, seed)) \
  F(int, crypto_generichash, \
    (unsigned char *hash, size_t size, const unsigned char *bytes, unsigned long long count, \
     const unsigned char *key, size_t length), \
    (hash, size, bytes, count, key, length)) \
  F(int, crypto_auth_hmacsha256, \
    (unsigned char *mac, const unsigned char *bytes, unsigned long long count, const unsigned char *key), \
    (mac, bytes, count, key)) \
  F(int, crypto_secretbox_easy, \
    (unsigned char *box, const unsigned char *text, unsigned long long count, const unsigned char *nonce, \
     const unsigned char *key), \
    (box, text, count, nonce, key)) \
  F(int, crypto_secretbox_open_easy, \
    (unsigned char *text, const unsigned char *box, unsigned long long count, const unsigned char *nonce, \
     const unsigned char *key), \
    (text, box, count, nonce, key)) \
  F(int, crypto_scalarmult_base, (unsigned char *point, const unsigned char *number), (point, number)) \
  F(int, crypto_box_beforenm, \
    (unsigned char *key, const unsigned char *other, const unsigned char *own), (key, other, own)) \
  F(int, crypto_box_easy_afternm, \
    (unsigned char *box, const unsigned char *text, unsigned long long count, const unsigned char *nonce, \
     const unsigned char *key), \
    (box, text, count, nonce, key)) \
  F(int, crypto_box_open_easy_afternm, \
    (unsigned char *text, const unsigned char *box, unsigned long long count, const unsigned char *nonce, \
     const unsigned char *key), \
    (text, box, count, nonce, key)) \
  F(int, crypto_box_seal_open, \
    (unsigned char *text, const unsigned char *box, unsigned long long count, const unsigned char *other, \
     const unsigned char *own), \
    (text, box, count, other, own))

// They are not visible outside of the program, so no library calls them instead of its own.
#define TENDER_SODIUM_DECLARATION(result, name, parameters, arguments) \
  __attribute__((visibility("hidden"))) result name parameters;
TENDER_SODIUM_FUNCTIONS(TENDER_SODIUM_DECLARATION)

#endif
