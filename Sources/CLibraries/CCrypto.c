#include "CCrypto.h"

#include "CSystem.h"

#include <dlfcn.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <string.h>

#ifdef __APPLE__
#define LIBRARY "libcrypto.3.dylib"
#else
#define LIBRARY "libcrypto.so.3"
#endif

/// The lowest version that this was tried with (Libraries.tsv).
#define LOWEST "3.0.0"

static struct {
  int (*digest)(const void *, size_t, unsigned char *, unsigned int *, const EVP_MD *, ENGINE *);
  const EVP_MD *(*sha1)(void);
  const EVP_MD *(*sha512)(void);
  BIO *(*memory)(const void *, int);
  int (*free_bio)(BIO *);
  EVP_PKEY *(*read_private)(BIO *, EVP_PKEY **, pem_password_cb *, void *);
  EVP_PKEY *(*read_public)(BIO *, EVP_PKEY **, pem_password_cb *, void *);
  void (*free_key)(EVP_PKEY *);
  int (*group_name)(const EVP_PKEY *, char *, size_t, size_t *);
  EVP_MD_CTX *(*new_context)(void);
  void (*free_context)(EVP_MD_CTX *);
  int (*sign_init)(EVP_MD_CTX *, EVP_PKEY_CTX **, const EVP_MD *, ENGINE *, EVP_PKEY *);
  int (*sign)(EVP_MD_CTX *, unsigned char *, size_t *, const unsigned char *, size_t);
  int (*verify_init)(EVP_MD_CTX *, EVP_PKEY_CTX **, const EVP_MD *, ENGINE *, EVP_PKEY *);
  int (*verify)(EVP_MD_CTX *, const unsigned char *, size_t, const unsigned char *, size_t);
  ECDSA_SIG *(*read_signature)(ECDSA_SIG **, const unsigned char **, long);
  int (*write_signature)(const ECDSA_SIG *, unsigned char **);
  ECDSA_SIG *(*new_signature)(void);
  void (*free_signature)(ECDSA_SIG *);
  const BIGNUM *(*r)(const ECDSA_SIG *);
  const BIGNUM *(*s)(const ECDSA_SIG *);
  int (*set)(ECDSA_SIG *, BIGNUM *, BIGNUM *);
  int (*pad)(const BIGNUM *, unsigned char *, int);
  BIGNUM *(*number)(const unsigned char *, int, BIGNUM *);
  void (*free_number)(BIGNUM *);
  void (*clear_errors)(void);
  const EVP_MD *(*sha256)(void);
  const EVP_MD *(*named)(const char *);
  int (*pbkdf2)(const char *, int, const unsigned char *, int, int, const EVP_MD *, int,
                unsigned char *);
  EVP_MAC *(*fetch_mac)(OSSL_LIB_CTX *, const char *, const char *);
  void (*free_mac)(EVP_MAC *);
  EVP_MAC_CTX *(*new_mac)(EVP_MAC *);
  void (*free_mac_context)(EVP_MAC_CTX *);
  int (*mac_init)(EVP_MAC_CTX *, const unsigned char *, size_t, const OSSL_PARAM *);
  int (*mac_update)(EVP_MAC_CTX *, const unsigned char *, size_t);
  int (*mac_final)(EVP_MAC_CTX *, unsigned char *, size_t *, size_t);
  OSSL_PARAM (*text_parameter)(const char *, char *, size_t);
  OSSL_PARAM (*end_parameter)(void);
  EVP_CIPHER_CTX *(*new_cipher)(void);
  void (*free_cipher)(EVP_CIPHER_CTX *);
  const EVP_CIPHER *(*tdes_cbc)(void);
  const EVP_CIPHER *(*tdes_ecb)(void);
  int (*cipher_init)(EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const unsigned char *,
                     const unsigned char *, int);
  int (*cipher_update)(EVP_CIPHER_CTX *, unsigned char *, int *, const unsigned char *, int);
  int (*set_padding)(EVP_CIPHER_CTX *, int);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem = NULL;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) problem = "libcrypto is too old: a function that tender needs is missing in " LIBRARY;
  return found;
}

static void open_once(void) {
  void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    problem = "libcrypto could not be opened (" LIBRARY
              "): install it with `apt-get install libssl3` or `brew install openssl@3`";
    return;
  }
  *(void **)&api.digest = symbol(library, "EVP_Digest");
  *(void **)&api.sha1 = symbol(library, "EVP_sha1");
  *(void **)&api.sha512 = symbol(library, "EVP_sha512");
  *(void **)&api.memory = symbol(library, "BIO_new_mem_buf");
  *(void **)&api.free_bio = symbol(library, "BIO_free");
  *(void **)&api.read_private = symbol(library, "PEM_read_bio_PrivateKey");
  *(void **)&api.read_public = symbol(library, "PEM_read_bio_PUBKEY");
  *(void **)&api.free_key = symbol(library, "EVP_PKEY_free");
  *(void **)&api.group_name = symbol(library, "EVP_PKEY_get_group_name");
  *(void **)&api.new_context = symbol(library, "EVP_MD_CTX_new");
  *(void **)&api.free_context = symbol(library, "EVP_MD_CTX_free");
  *(void **)&api.sign_init = symbol(library, "EVP_DigestSignInit");
  *(void **)&api.sign = symbol(library, "EVP_DigestSign");
  *(void **)&api.verify_init = symbol(library, "EVP_DigestVerifyInit");
  *(void **)&api.verify = symbol(library, "EVP_DigestVerify");
  *(void **)&api.read_signature = symbol(library, "d2i_ECDSA_SIG");
  *(void **)&api.write_signature = symbol(library, "i2d_ECDSA_SIG");
  *(void **)&api.new_signature = symbol(library, "ECDSA_SIG_new");
  *(void **)&api.free_signature = symbol(library, "ECDSA_SIG_free");
  *(void **)&api.r = symbol(library, "ECDSA_SIG_get0_r");
  *(void **)&api.s = symbol(library, "ECDSA_SIG_get0_s");
  *(void **)&api.set = symbol(library, "ECDSA_SIG_set0");
  *(void **)&api.pad = symbol(library, "BN_bn2binpad");
  *(void **)&api.number = symbol(library, "BN_bin2bn");
  *(void **)&api.free_number = symbol(library, "BN_free");
  *(void **)&api.clear_errors = symbol(library, "ERR_clear_error");
  *(void **)&api.sha256 = symbol(library, "EVP_sha256");
  *(void **)&api.named = symbol(library, "EVP_get_digestbyname");
  *(void **)&api.pbkdf2 = symbol(library, "PKCS5_PBKDF2_HMAC");
  *(void **)&api.fetch_mac = symbol(library, "EVP_MAC_fetch");
  *(void **)&api.free_mac = symbol(library, "EVP_MAC_free");
  *(void **)&api.new_mac = symbol(library, "EVP_MAC_CTX_new");
  *(void **)&api.free_mac_context = symbol(library, "EVP_MAC_CTX_free");
  *(void **)&api.mac_init = symbol(library, "EVP_MAC_init");
  *(void **)&api.mac_update = symbol(library, "EVP_MAC_update");
  *(void **)&api.mac_final = symbol(library, "EVP_MAC_final");
  *(void **)&api.text_parameter = symbol(library, "OSSL_PARAM_construct_utf8_string");
  *(void **)&api.end_parameter = symbol(library, "OSSL_PARAM_construct_end");
  *(void **)&api.new_cipher = symbol(library, "EVP_CIPHER_CTX_new");
  *(void **)&api.free_cipher = symbol(library, "EVP_CIPHER_CTX_free");
  *(void **)&api.tdes_cbc = symbol(library, "EVP_des_ede_cbc");
  *(void **)&api.tdes_ecb = symbol(library, "EVP_des_ede");
  *(void **)&api.cipher_init = symbol(library, "EVP_CipherInit_ex");
  *(void **)&api.cipher_update = symbol(library, "EVP_CipherUpdate");
  *(void **)&api.set_padding = symbol(library, "EVP_CIPHER_CTX_set_padding");
  // Which version it is, the library says that was opened.
  const char *(*text)(int) = NULL;
  *(void **)&text = symbol(library, "OpenSSL_version");
  const char *version = problem ? NULL : text(OPENSSL_VERSION_STRING);
  if (!problem && !tender_system_is_version(version, LOWEST))
    problem = "libcrypto is too old: tender needs " LOWEST " or later";
}

const char *tender_crypto_open(void) {
  pthread_once(&once, open_once);
  return problem;
}

int tender_crypto_sha1(const void *bytes, size_t count, unsigned char *digest) {
  unsigned int length = 0;
  return api.digest(bytes, count, digest, &length, api.sha1(), NULL) == 1 && length == 20;
}

int tender_crypto_sha256(const void *bytes, size_t count, unsigned char *digest) {
  unsigned int length = 0;
  return api.digest(bytes, count, digest, &length, api.sha256(), NULL) == 1 && length == 32;
}

int tender_crypto_pbkdf2(const char *digest, const void *password, size_t password_count,
                         const void *salt, size_t salt_count, int iterations, unsigned char *key,
                         size_t size) {
  const EVP_MD *chosen = api.named(digest);
  if (!chosen || password_count > 65536 || salt_count > 65536 || size > 1024) return 0;
  return api.pbkdf2(password, (int)password_count, salt, (int)salt_count, iterations, chosen,
                    (int)size, key) == 1;
}

int tender_crypto_cmac(const void *key, size_t key_count, const void *bytes, size_t count,
                       unsigned char *mac) {
  char *cipher = key_count == 32   ? "AES-256-CBC"
                 : key_count == 24 ? "AES-192-CBC"
                 : key_count == 16 ? "AES-128-CBC"
                                   : NULL;
  EVP_MAC *algorithm = cipher ? api.fetch_mac(NULL, "CMAC", NULL) : NULL;
  EVP_MAC_CTX *context = algorithm ? api.new_mac(algorithm) : NULL;
  OSSL_PARAM parameters[2] = {api.text_parameter("cipher", cipher, 0), api.end_parameter()};
  size_t size = 0;
  int worked = context && api.mac_init(context, key, key_count, parameters) == 1 &&
               api.mac_update(context, bytes, count) == 1 &&
               api.mac_final(context, mac, &size, 16) == 1 && size == 16;
  api.free_mac_context(context);
  api.free_mac(algorithm);
  api.clear_errors();
  return worked;
}

int tender_crypto_tdes(const void *key, const void *vector, int encrypting, const void *bytes,
                       size_t count, unsigned char *result) {
  if (count % 8 || count > 1 << 20) return 0;
  EVP_CIPHER_CTX *context = api.new_cipher();
  int size = 0;
  int worked = context &&
               api.cipher_init(context, vector ? api.tdes_cbc() : api.tdes_ecb(), NULL, key, vector,
                               encrypting) == 1 &&
               api.set_padding(context, 0) == 1 &&
               api.cipher_update(context, result, &size, bytes, (int)count) == 1 &&
               size == (int)count;
  api.free_cipher(context);
  api.clear_errors();
  return worked;
}

#define HALF (TENDER_ES512_SIZE / 2)
// A DER signature of two 66-byte numbers takes 139 bytes at most.
#define DER_SIZE 160

// No key here has a passphrase; without this the library would ask on the terminal.
static int no_passphrase(char *buffer, int size, int writing, void *context) {
  (void)buffer, (void)size, (void)writing, (void)context;
  return 0;
}

// The key of a PEM text, which must be on P-521; `status` says what is wrong otherwise.
static EVP_PKEY *read_key(const void *pem, size_t count, int private, int *status) {
  EVP_PKEY *key = NULL;
  *status = 0;
  if (count > 65536) return NULL;
  BIO *bio = api.memory(pem, (int)count);
  if (bio) {
    key = private ? api.read_private(bio, NULL, no_passphrase, NULL)
                  : api.read_public(bio, NULL, no_passphrase, NULL);
    api.free_bio(bio);
  }
  char name[32] = "";
  if (key && (api.group_name(key, name, sizeof name, NULL) != 1 || strcmp(name, "secp521r1"))) {
    *status = -1;
    api.free_key(key);
    key = NULL;
  }
  api.clear_errors();
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
  EVP_MD_CTX *context = api.new_context();
  if (context && api.sign_init(context, NULL, api.sha512(), NULL, key) == 1 &&
      api.sign(context, der, &size, bytes, count) == 1) {
    const unsigned char *start = der;
    ECDSA_SIG *pair = api.read_signature(NULL, &start, (long)size);
    if (pair && api.pad(api.r(pair), signature, HALF) == HALF &&
        api.pad(api.s(pair), signature + HALF, HALF) == HALF)
      status = 1;
    api.free_signature(pair);
  }
  api.free_context(context);
  api.free_key(key);
  api.clear_errors();
  return status;
}

int tender_crypto_verify_es512(const void *pem, size_t pem_count, const void *bytes, size_t count,
                               const unsigned char *signature) {
  int status;
  EVP_PKEY *key = read_key(pem, pem_count, 0, &status);
  if (!key) return status;
  status = 0;
  ECDSA_SIG *pair = api.new_signature();
  BIGNUM *r = api.number(signature, HALF, NULL);
  BIGNUM *s = api.number(signature + HALF, HALF, NULL);
  if (pair && r && s && api.set(pair, r, s) == 1) {
    unsigned char der[DER_SIZE];
    unsigned char *end = der;
    int size = api.write_signature(pair, &end);
    EVP_MD_CTX *context = size > 0 ? api.new_context() : NULL;
    if (context && api.verify_init(context, NULL, api.sha512(), NULL, key) == 1 &&
        api.verify(context, der, (size_t)size, bytes, count) == 1)
      status = 1;
    api.free_context(context);
  } else {
    api.free_number(r);
    api.free_number(s);
  }
  api.free_signature(pair);
  api.free_key(key);
  api.clear_errors();
  return status;
}
