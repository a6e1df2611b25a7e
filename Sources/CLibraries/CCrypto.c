#include "CCrypto.h"

#include "Library.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <string.h>

#define FUNCTIONS(F) \
  F(EVP_Digest) F(EVP_sha1) F(EVP_sha512) F(BIO_new_mem_buf) F(BIO_free) \
  F(PEM_read_bio_PrivateKey) F(PEM_read_bio_PUBKEY) F(EVP_PKEY_free) F(EVP_PKEY_get_group_name) \
  F(EVP_MD_CTX_new) F(EVP_MD_CTX_free) F(EVP_DigestSignInit) F(EVP_DigestSign) \
  F(EVP_DigestVerifyInit) F(EVP_DigestVerify) F(d2i_ECDSA_SIG) F(i2d_ECDSA_SIG) F(ECDSA_SIG_new) \
  F(ECDSA_SIG_free) F(ECDSA_SIG_get0_r) F(ECDSA_SIG_get0_s) F(ECDSA_SIG_set0) F(BN_bn2binpad) \
  F(BN_bin2bn) F(BN_free) F(ERR_clear_error) F(EVP_get_digestbyname) F(PKCS5_PBKDF2_HMAC) \
  F(EVP_MAC_fetch) F(EVP_MAC_free) F(EVP_MAC_CTX_new) F(EVP_MAC_CTX_free) F(EVP_MAC_init) \
  F(EVP_MAC_update) F(EVP_MAC_final) F(OSSL_PARAM_construct_utf8_string) \
  F(OSSL_PARAM_construct_end) F(EVP_CIPHER_CTX_new) F(EVP_CIPHER_CTX_free) F(EVP_des_ede_cbc) \
  F(EVP_des_ede) F(EVP_CipherInit_ex) F(EVP_CipherUpdate) F(EVP_CIPHER_CTX_set_padding) \
  F(OpenSSL_version) F(EVP_PKEY_Q_keygen) F(BIO_new) F(BIO_s_mem) F(BIO_read) \
  F(PEM_write_bio_PrivateKey) F(PEM_write_bio_PUBKEY)

static struct { FUNCTIONS(MEMBER) } api;
static const char *const names[] = {FUNCTIONS(NAME)};

static const char *version(void) { return api.OpenSSL_version(OPENSSL_VERSION_STRING); }

const char *tender_crypto_open(void) {
  static struct library library = LIBRARY(
      "libcrypto", "3.0.0", "libssl3", "openssl@3", NULL,
      FILES(("libcrypto.so.3"), ("libcrypto.3.dylib")));
  return tender_library_open(&library);
}

int tender_crypto_sha1(const void *bytes, size_t count, unsigned char *digest) {
  unsigned int length = 0;
  return api.EVP_Digest(bytes, count, digest, &length, api.EVP_sha1(), NULL) == 1 && length == 20;
}

int tender_crypto_pbkdf2(const char *digest, const void *password, size_t password_count,
                         const void *salt, size_t salt_count, int iterations, unsigned char *key,
                         size_t size) {
  const EVP_MD *chosen = api.EVP_get_digestbyname(digest);
  if (!chosen || password_count > 65536 || salt_count > 65536 || size > 1024) return 0;
  return api.PKCS5_PBKDF2_HMAC(password, (int)password_count, salt, (int)salt_count, iterations, chosen,
                    (int)size, key) == 1;
}

int tender_crypto_cmac(const void *key, size_t key_count, const void *bytes, size_t count,
                       unsigned char *mac) {
  char *cipher = key_count == 32   ? "AES-256-CBC"
                 : key_count == 24 ? "AES-192-CBC"
                 : key_count == 16 ? "AES-128-CBC"
                                   : NULL;
  EVP_MAC *algorithm = cipher ? api.EVP_MAC_fetch(NULL, "CMAC", NULL) : NULL;
  EVP_MAC_CTX *context = algorithm ? api.EVP_MAC_CTX_new(algorithm) : NULL;
  OSSL_PARAM parameters[2] = {api.OSSL_PARAM_construct_utf8_string("cipher", cipher, 0), api.OSSL_PARAM_construct_end()};
  size_t size = 0;
  int worked = context && api.EVP_MAC_init(context, key, key_count, parameters) == 1 &&
               api.EVP_MAC_update(context, bytes, count) == 1 &&
               api.EVP_MAC_final(context, mac, &size, 16) == 1 && size == 16;
  api.EVP_MAC_CTX_free(context);
  api.EVP_MAC_free(algorithm);
  api.ERR_clear_error();
  return worked;
}

int tender_crypto_tdes(const void *key, const void *vector, int encrypting, const void *bytes,
                       size_t count, unsigned char *result) {
  if (count % 8 || count > 1 << 20) return 0;
  EVP_CIPHER_CTX *context = api.EVP_CIPHER_CTX_new();
  int size = 0;
  int worked = context &&
               api.EVP_CipherInit_ex(context, vector ? api.EVP_des_ede_cbc() : api.EVP_des_ede(), NULL, key, vector,
                               encrypting) == 1 &&
               api.EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
               api.EVP_CipherUpdate(context, result, &size, bytes, (int)count) == 1 &&
               size == (int)count;
  api.EVP_CIPHER_CTX_free(context);
  api.ERR_clear_error();
  return worked;
}

#define HALF (TENDER_ES512_SIZE / 2)
// A DER signature of two 66-byte numbers has at most 139 bytes.
#define DER_SIZE 160

// No key here has a passphrase. Without this function, the library would ask for one on the terminal.
static int no_passphrase(char *buffer, int size, int writing, void *context) {
  (void)buffer, (void)size, (void)writing, (void)context;
  return 0;
}

// Reads the key of a PEM text, which must be on P-521. Otherwise `status` has the error.
static EVP_PKEY *read_key(const void *pem, size_t count, int private, int *status) {
  EVP_PKEY *key = NULL;
  *status = 0;
  if (count > 65536) return NULL;
  BIO *bio = api.BIO_new_mem_buf(pem, (int)count);
  if (bio) {
    key = private ? api.PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL)
                  : api.PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
    api.BIO_free(bio);
  }
  char name[32] = "";
  if (key && (api.EVP_PKEY_get_group_name(key, name, sizeof name, NULL) != 1 || strcmp(name, "secp521r1"))) {
    *status = -1;
    api.EVP_PKEY_free(key);
    key = NULL;
  }
  api.ERR_clear_error();
  return key;
}

int tender_crypto_sign_es512(const void *pem, size_t pem_count, const void *bytes, size_t count,
                             unsigned char *signature) {
  int status;
  EVP_PKEY *key = read_key(pem, pem_count, 1, &status);
  if (!key) return status;
  status = -2;
  unsigned char der[DER_SIZE];
  size_t size = sizeof der;
  EVP_MD_CTX *context = api.EVP_MD_CTX_new();
  if (context && api.EVP_DigestSignInit(context, NULL, api.EVP_sha512(), NULL, key) == 1 &&
      api.EVP_DigestSign(context, der, &size, bytes, count) == 1) {
    const unsigned char *start = der;
    ECDSA_SIG *pair = api.d2i_ECDSA_SIG(NULL, &start, (long)size);
    if (pair && api.BN_bn2binpad(api.ECDSA_SIG_get0_r(pair), signature, HALF) == HALF &&
        api.BN_bn2binpad(api.ECDSA_SIG_get0_s(pair), signature + HALF, HALF) == HALF)
      status = 1;
    api.ECDSA_SIG_free(pair);
  }
  api.EVP_MD_CTX_free(context);
  api.EVP_PKEY_free(key);
  api.ERR_clear_error();
  return status;
}

int tender_crypto_verify_es512(const void *pem, size_t pem_count, const void *bytes, size_t count,
                               const unsigned char *signature) {
  int status;
  EVP_PKEY *key = read_key(pem, pem_count, 0, &status);
  if (!key) return status;
  status = 0;
  ECDSA_SIG *pair = api.ECDSA_SIG_new();
  BIGNUM *r = api.BN_bin2bn(signature, HALF, NULL);
  BIGNUM *s = api.BN_bin2bn(signature + HALF, HALF, NULL);
  if (pair && r && s && api.ECDSA_SIG_set0(pair, r, s) == 1) {
    unsigned char der[DER_SIZE];
    unsigned char *end = der;
    int size = api.i2d_ECDSA_SIG(pair, &end);
    EVP_MD_CTX *context = size > 0 ? api.EVP_MD_CTX_new() : NULL;
    if (context && api.EVP_DigestVerifyInit(context, NULL, api.EVP_sha512(), NULL, key) == 1 &&
        api.EVP_DigestVerify(context, der, (size_t)size, bytes, count) == 1)
      status = 1;
    api.EVP_MD_CTX_free(context);
  } else {
    api.BN_free(r);
    api.BN_free(s);
  }
  api.ECDSA_SIG_free(pair);
  api.EVP_PKEY_free(key);
  api.ERR_clear_error();
  return status;
}

// Copies the text of a BIO, and frees the BIO. Returns 1 if all of the text fitted.
static int take_text(BIO *bio, int worked, char *text) {
  int count = worked ? api.BIO_read(bio, text, TENDER_ES512_PEM_SIZE) : 0;
  api.BIO_free(bio);
  if (count <= 0 || count >= TENDER_ES512_PEM_SIZE) return 0;
  text[count] = 0;
  return 1;
}

int tender_crypto_make_es512(char *private_pem, char *public_pem) {
  EVP_PKEY *key = api.EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-521");
  BIO *secret = key ? api.BIO_new(api.BIO_s_mem()) : NULL;
  BIO *known = secret ? api.BIO_new(api.BIO_s_mem()) : NULL;
  int worked = known && api.PEM_write_bio_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL) == 1 &&
               api.PEM_write_bio_PUBKEY(known, key) == 1;
  worked &= take_text(secret, worked, private_pem);
  worked &= take_text(known, worked, public_pem);
  api.EVP_PKEY_free(key);
  api.ERR_clear_error();
  return worked;
}

int tender_crypto_check_es512(const void *pem, size_t pem_count) {
  int status;
  EVP_PKEY *key = read_key(pem, pem_count, 0, &status);
  if (!key) return status;
  api.EVP_PKEY_free(key);
  return 1;
}
