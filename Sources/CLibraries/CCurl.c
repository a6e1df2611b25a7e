// libcurl's type checks are macros with the names of the functions that are looked up here.
#define CURL_DISABLE_TYPECHECK
#include "CCurl.h"

#include "Library.h"

#define FUNCTIONS(F) \
  F(curl_global_init) F(curl_easy_init) F(curl_easy_cleanup) F(curl_easy_reset) \
  F(curl_easy_perform) F(curl_easy_send) F(curl_easy_recv) \
  F(curl_easy_setopt) F(curl_easy_getinfo) F(curl_easy_strerror) F(curl_slist_append) \
  F(curl_slist_free_all) F(curl_version_info)

static struct { FUNCTIONS(MEMBER) } api;
static const char *const names[] = {FUNCTIONS(NAME)};

static const char *version(void) { return api.curl_version_info(CURLVERSION_NOW)->version; }

static const char *begin(void) {
  return api.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? NULL : "libcurl could not be initialised";
}

const char *tender_curl_open(void) {
  static struct library library = LIBRARY(
      "libcurl", "7.74.0", "libcurl4", "curl", begin,
      FILES(("libcurl.so.4"), ("libcurl.4.dylib")));
  return tender_library_open(&library);
}

CURL *tender_curl_easy_init(void) { return api.curl_easy_init(); }
void tender_curl_easy_cleanup(CURL *easy) { api.curl_easy_cleanup(easy); }
void tender_curl_easy_reset(CURL *easy) { api.curl_easy_reset(easy); }
CURLcode tender_curl_easy_perform(CURL *easy) { return api.curl_easy_perform(easy); }
CURLcode tender_curl_easy_send(CURL *easy, const void *bytes, size_t count, size_t *sent) {
  return api.curl_easy_send(easy, bytes, count, sent);
}
CURLcode tender_curl_easy_recv(CURL *easy, void *bytes, size_t count, size_t *received) {
  return api.curl_easy_recv(easy, bytes, count, received);
}
/// The numbers of two options. The opened library decides which one exists, not the header of the build.
enum { PROTOCOLS_STR = 10318, PROTOCOLS = 181, HTTP_BIT = 1, HTTPS_BIT = 2 };

CURLcode tender_curl_set_scheme(CURL *easy, int encrypted) {
  CURLcode code =
      api.curl_easy_setopt(easy, (CURLoption)PROTOCOLS_STR, encrypted ? "https" : "http");
  if (code != CURLE_UNKNOWN_OPTION)
    return code;
  return api.curl_easy_setopt(easy, (CURLoption)PROTOCOLS, encrypted ? (long)HTTPS_BIT : (long)HTTP_BIT);
}
CURLcode tender_curl_set_long(CURL *easy, CURLoption option, long value) {
  return api.curl_easy_setopt(easy, option, value);
}
CURLcode tender_curl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return api.curl_easy_setopt(easy, option, value);
}
CURLcode tender_curl_collect(CURL *easy, curl_write_callback body, curl_write_callback header,
                             void *context) {
  CURLcode code = api.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  if (code == CURLE_OK) code = api.curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  if (code == CURLE_OK) code = api.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
  return code == CURLE_OK ? api.curl_easy_setopt(easy, CURLOPT_HEADERDATA, context) : code;
}
CURLcode tender_curl_set_progress(CURL *easy, curl_xferinfo_callback function, void *context) {
  CURLcode code = api.curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
  if (code == CURLE_OK) code = api.curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
  return code == CURLE_OK ? api.curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) : code;
}
CURLcode tender_curl_set_leaving(CURL *easy, tender_curl_leaving function, void *context) {
  // CURLOPT_PREREQFUNCTION and its data, by their numbers: the headers may be older than 7.80.
  CURLcode code = api.curl_easy_setopt(easy, (CURLoption)20312, function);
  if (code == CURLE_OK) code = api.curl_easy_setopt(easy, (CURLoption)10313, context);
  return code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
}
CURLcode tender_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return api.curl_easy_getinfo(easy, info, value);
}
CURLcode tender_curl_get_socket(CURL *easy, curl_socket_t *value) {
  return api.curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}
const char *tender_curl_easy_strerror(CURLcode code) { return api.curl_easy_strerror(code); }
struct curl_slist *tender_curl_slist_append(struct curl_slist *list, const char *text) {
  return api.curl_slist_append(list, text);
}
void tender_curl_slist_free_all(struct curl_slist *list) { api.curl_slist_free_all(list); }
