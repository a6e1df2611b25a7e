// libcurl, opened on first use, because loading it costs more than the rest of a short command. Each function
// below calls libcurl's function of that name. A variadic one has a function for each type.
#ifndef TENDER_CCURL_H
#define TENDER_CCURL_H

#include <curl/curl.h>

/// Opens the library once. Returns NULL, or the reason why it cannot be used.
const char *tender_curl_open(void);

CURL *tender_curl_easy_init(void);
void tender_curl_easy_cleanup(CURL *easy);
void tender_curl_easy_reset(CURL *easy);
CURLcode tender_curl_easy_perform(CURL *easy);
CURLcode tender_curl_easy_send(CURL *easy, const void *bytes, size_t count, size_t *sent);
CURLcode tender_curl_easy_recv(CURL *easy, void *bytes, size_t count, size_t *received);
/// Allows only one scheme, `https` or `http`, by the option that this version of libcurl has.
CURLcode tender_curl_set_scheme(CURL *easy, int encrypted);
CURLcode tender_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode tender_curl_set_pointer(CURL *easy, CURLoption option, const void *value);
CURLcode tender_curl_collect(CURL *easy, curl_write_callback body, curl_write_callback header,
                             void *context);
CURLcode tender_curl_set_progress(CURL *easy, curl_xferinfo_callback function, void *context);
/// Called after the connection is open, before the first byte of a request. 0 allows the request. Libraries
/// before 7.80 never call it.
typedef int (*tender_curl_leaving)(void *context, char *, char *, int, int);
CURLcode tender_curl_set_leaving(CURL *easy, tender_curl_leaving function, void *context);
CURLcode tender_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode tender_curl_get_socket(CURL *easy, curl_socket_t *value);
const char *tender_curl_easy_strerror(CURLcode code);
struct curl_slist *tender_curl_slist_append(struct curl_slist *list, const char *text);
void tender_curl_slist_free_all(struct curl_slist *list);

#endif
