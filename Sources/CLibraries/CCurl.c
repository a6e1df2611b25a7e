#include "CCurl.h"

#include "CSystem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>

#ifdef __APPLE__
#define LIBRARY "libcurl.4.dylib"
#else
#define LIBRARY "libcurl.so.4"
#endif

/// The lowest version that this was tried with (Libraries.tsv).
#define LOWEST "7.74.0"

static struct {
  CURLcode (*global_init)(long);
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *);
  void (*easy_reset)(CURL *);
  CURLcode (*easy_perform)(CURL *);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_cleanup)(CURLM *);
  CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
  CURLMcode (*multi_add_handle)(CURLM *, CURL *);
  CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
  CURLMcode (*multi_perform)(CURLM *, int *);
  CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned int, int, int *);
  CURLMcode (*multi_wakeup)(CURLM *);
  CURLMsg *(*multi_info_read)(CURLM *, int *);
  CURLcode (*easy_send)(CURL *, const void *, size_t, size_t *);
  CURLcode (*easy_recv)(CURL *, void *, size_t, size_t *);
  CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
  const char *(*easy_strerror)(CURLcode);
  struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
  void (*slist_free_all)(struct curl_slist *);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem = NULL;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) problem = "libcurl is too old: a function that tender needs is missing in " LIBRARY;
  return found;
}

static void open_once(void) {
  void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    problem = "libcurl could not be opened (" LIBRARY
              "): install it with `apt-get install libcurl4` or `brew install curl`";
    return;
  }
  *(void **)&api.global_init = symbol(library, "curl_global_init");
  *(void **)&api.easy_init = symbol(library, "curl_easy_init");
  *(void **)&api.easy_cleanup = symbol(library, "curl_easy_cleanup");
  *(void **)&api.easy_reset = symbol(library, "curl_easy_reset");
  *(void **)&api.easy_perform = symbol(library, "curl_easy_perform");
  *(void **)&api.multi_init = symbol(library, "curl_multi_init");
  *(void **)&api.multi_cleanup = symbol(library, "curl_multi_cleanup");
  *(void **)&api.multi_setopt = symbol(library, "curl_multi_setopt");
  *(void **)&api.multi_add_handle = symbol(library, "curl_multi_add_handle");
  *(void **)&api.multi_remove_handle = symbol(library, "curl_multi_remove_handle");
  *(void **)&api.multi_perform = symbol(library, "curl_multi_perform");
  *(void **)&api.multi_poll = symbol(library, "curl_multi_poll");
  *(void **)&api.multi_wakeup = symbol(library, "curl_multi_wakeup");
  *(void **)&api.multi_info_read = symbol(library, "curl_multi_info_read");
  *(void **)&api.easy_send = symbol(library, "curl_easy_send");
  *(void **)&api.easy_recv = symbol(library, "curl_easy_recv");
  *(void **)&api.easy_setopt = symbol(library, "curl_easy_setopt");
  *(void **)&api.easy_getinfo = symbol(library, "curl_easy_getinfo");
  *(void **)&api.easy_strerror = symbol(library, "curl_easy_strerror");
  *(void **)&api.slist_append = symbol(library, "curl_slist_append");
  *(void **)&api.slist_free_all = symbol(library, "curl_slist_free_all");
  // Which version it is, the library says that was opened.
  curl_version_info_data *(*info)(CURLversion) = NULL;
  *(void **)&info = symbol(library, "curl_version_info");
  const char *version = problem ? NULL : info(CURLVERSION_NOW)->version;
  if (!problem && !tender_system_is_version(version, LOWEST))
    problem = "libcurl is too old: tender needs " LOWEST " or later";
  if (!problem && api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    problem = "libcurl could not be initialised";
}

const char *tender_curl_open(void) {
  pthread_once(&once, open_once);
  return problem;
}

CURL *tender_curl_easy_init(void) { return api.easy_init(); }
void tender_curl_easy_cleanup(CURL *easy) { api.easy_cleanup(easy); }
void tender_curl_easy_reset(CURL *easy) { api.easy_reset(easy); }
CURLcode tender_curl_easy_perform(CURL *easy) { return api.easy_perform(easy); }
CURLM *tender_curl_multi_init(void) { return api.multi_init(); }
void tender_curl_multi_cleanup(CURLM *multi) { api.multi_cleanup(multi); }
CURLMcode tender_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return api.multi_setopt(multi, option, value);
}
CURLMcode tender_curl_multi_add_handle(CURLM *multi, CURL *easy) {
  return api.multi_add_handle(multi, easy);
}
CURLMcode tender_curl_multi_remove_handle(CURLM *multi, CURL *easy) {
  return api.multi_remove_handle(multi, easy);
}
CURLMcode tender_curl_multi_perform(CURLM *multi) {
  int running = 0;
  return api.multi_perform(multi, &running);
}
CURLMcode tender_curl_multi_wait(CURLM *multi, int milliseconds) {
  return api.multi_poll(multi, NULL, 0, milliseconds, NULL);
}
CURLMcode tender_curl_multi_wakeup(CURLM *multi) { return api.multi_wakeup(multi); }
CURL *tender_curl_multi_next(CURLM *multi, CURLcode *code) {
  int left = 0;
  for (CURLMsg *message; (message = api.multi_info_read(multi, &left));) {
    if (message->msg != CURLMSG_DONE)
      continue;
    *code = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}
CURLcode tender_curl_easy_send(CURL *easy, const void *bytes, size_t count, size_t *sent) {
  return api.easy_send(easy, bytes, count, sent);
}
CURLcode tender_curl_easy_recv(CURL *easy, void *bytes, size_t count, size_t *received) {
  return api.easy_recv(easy, bytes, count, received);
}
/// Two options by their numbers: which of them there is, the library says that was opened, not the one
/// whose header this was built with.
enum { PROTOCOLS_STR = 10318, PROTOCOLS = 181, HTTP_BIT = 1, HTTPS_BIT = 2 };

CURLcode tender_curl_set_scheme(CURL *easy, int encrypted) {
  CURLcode code =
      api.easy_setopt(easy, (CURLoption)PROTOCOLS_STR, encrypted ? "https" : "http");
  if (code != CURLE_UNKNOWN_OPTION)
    return code;
  return api.easy_setopt(easy, (CURLoption)PROTOCOLS, encrypted ? (long)HTTPS_BIT : (long)HTTP_BIT);
}
CURLcode tender_curl_set_long(CURL *easy, CURLoption option, long value) {
  return api.easy_setopt(easy, option, value);
}
CURLcode tender_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return api.easy_setopt(easy, option, value);
}
CURLcode tender_curl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return api.easy_setopt(easy, option, value);
}
CURLcode tender_curl_set_write(CURL *easy, curl_write_callback function, void *context) {
  CURLcode code = api.easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
  return code == CURLE_OK ? api.easy_setopt(easy, CURLOPT_WRITEDATA, context) : code;
}
CURLcode tender_curl_set_header(CURL *easy, curl_write_callback function, void *context) {
  CURLcode code = api.easy_setopt(easy, CURLOPT_HEADERFUNCTION, function);
  return code == CURLE_OK ? api.easy_setopt(easy, CURLOPT_HEADERDATA, context) : code;
}
CURLcode tender_curl_set_progress(CURL *easy, curl_xferinfo_callback function, void *context) {
  CURLcode code = api.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
  if (code == CURLE_OK) code = api.easy_setopt(easy, CURLOPT_XFERINFODATA, context);
  return code == CURLE_OK ? api.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) : code;
}
CURLcode tender_curl_set_leaving(CURL *easy, tender_curl_leaving function, void *context) {
  // CURLOPT_PREREQFUNCTION and its data, by their numbers: the headers may be older than 7.80.
  CURLcode code = api.easy_setopt(easy, (CURLoption)20312, function);
  if (code == CURLE_OK) code = api.easy_setopt(easy, (CURLoption)10313, context);
  return code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
}
CURLcode tender_curl_set_debug(CURL *easy, curl_debug_callback function, void *context) {
  CURLcode code = api.easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
  if (code == CURLE_OK) code = api.easy_setopt(easy, CURLOPT_DEBUGDATA, context);
  return code == CURLE_OK ? api.easy_setopt(easy, CURLOPT_VERBOSE, 1L) : code;
}
CURLcode tender_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return api.easy_getinfo(easy, info, value);
}
CURLcode tender_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return api.easy_getinfo(easy, info, value);
}
CURLcode tender_curl_get_socket(CURL *easy, curl_socket_t *value) {
  return api.easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}
const char *tender_curl_easy_strerror(CURLcode code) { return api.easy_strerror(code); }
struct curl_slist *tender_curl_slist_append(struct curl_slist *list, const char *text) {
  return api.slist_append(list, text);
}
void tender_curl_slist_free_all(struct curl_slist *list) { api.slist_free_all(list); }
