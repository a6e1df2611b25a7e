#include "CPostgres.h"

#include "CSystem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/// The lowest version that this was tried with (Libraries.tsv).
#define LOWEST "14.0"

#ifdef __APPLE__
static const char *const libraries[] = {"libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
                                        "/usr/local/opt/libpq/lib/libpq.5.dylib"};
#else
static const char *const libraries[] = {"libpq.so.5"};
#endif

static struct {
  int (*version)(void);
  struct tender_pq_option *(*parse)(const char *, char **);
  struct tender_pq_option *(*options)(struct tender_pq *);
  void (*free_options)(struct tender_pq_option *);
  void (*free_text)(void *);
  struct tender_pq *(*begin)(const char *const *, const char *const *, int);
  int (*poll)(struct tender_pq *);
  int (*status)(const struct tender_pq *);
  int (*socket)(const struct tender_pq *);
  int (*tls)(struct tender_pq *);
  char *(*host)(const struct tender_pq *);
  char *(*port)(const struct tender_pq *);
  char *(*message)(const struct tender_pq *);
  int (*verbosity)(struct tender_pq *, int);
  void *(*notices)(struct tender_pq *, void (*)(void *, const char *), void *);
  int (*nonblocking)(struct tender_pq *, int);
  int (*pipeline)(struct tender_pq *);
  int (*send)(struct tender_pq *, const char *, int, const unsigned *, const char *const *,
              const int *, const int *, int);
  int (*sync)(struct tender_pq *);
  int (*flush)(struct tender_pq *);
  int (*consume)(struct tender_pq *);
  int (*busy)(struct tender_pq *);
  struct tender_pq_result *(*result)(struct tender_pq *);
  void (*end)(struct tender_pq *);
  int (*result_status)(const struct tender_pq_result *);
  char *(*field)(const struct tender_pq_result *, int);
  int (*rows)(const struct tender_pq_result *);
  int (*columns)(const struct tender_pq_result *);
  unsigned (*type)(const struct tender_pq_result *, int);
  char *(*value)(const struct tender_pq_result *, int, int);
  int (*is_null)(const struct tender_pq_result *, int, int);
  int (*length)(const struct tender_pq_result *, int, int);
  void (*clear)(struct tender_pq_result *);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem = NULL;

static const struct {
  const char *name;
  void **place;
} symbols[] = {
    {"PQlibVersion", (void **)&api.version},
    {"PQconninfoParse", (void **)&api.parse},
    {"PQconninfo", (void **)&api.options},
    {"PQconninfoFree", (void **)&api.free_options},
    {"PQfreemem", (void **)&api.free_text},
    {"PQconnectStartParams", (void **)&api.begin},
    {"PQconnectPoll", (void **)&api.poll},
    {"PQstatus", (void **)&api.status},
    {"PQsocket", (void **)&api.socket},
    {"PQsslInUse", (void **)&api.tls},
    {"PQhost", (void **)&api.host},
    {"PQport", (void **)&api.port},
    {"PQerrorMessage", (void **)&api.message},
    {"PQsetErrorVerbosity", (void **)&api.verbosity},
    {"PQsetNoticeProcessor", (void **)&api.notices},
    {"PQsetnonblocking", (void **)&api.nonblocking},
    {"PQenterPipelineMode", (void **)&api.pipeline},
    {"PQsendQueryParams", (void **)&api.send},
    {"PQpipelineSync", (void **)&api.sync},
    {"PQflush", (void **)&api.flush},
    {"PQconsumeInput", (void **)&api.consume},
    {"PQisBusy", (void **)&api.busy},
    {"PQgetResult", (void **)&api.result},
    {"PQfinish", (void **)&api.end},
    {"PQresultStatus", (void **)&api.result_status},
    {"PQresultErrorField", (void **)&api.field},
    {"PQntuples", (void **)&api.rows},
    {"PQnfields", (void **)&api.columns},
    {"PQftype", (void **)&api.type},
    {"PQgetvalue", (void **)&api.value},
    {"PQgetisnull", (void **)&api.is_null},
    {"PQgetlength", (void **)&api.length},
    {"PQclear", (void **)&api.clear},
};

static void open_once(void) {
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    problem = "libpq could not be opened, which a journal on PostgreSQL needs: install it with "
              "`apt-get install libpq5` or `brew install libpq`";
    return;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].place = dlsym(library, symbols[i].name);
    // Version 14 is the first that has all of them.
    if (!*symbols[i].place) problem = "libpq is too old: tender needs " LOWEST " or later";
  }
  if (problem) return;
  char version[24];
  snprintf(version, sizeof version, "%d.%d", api.version() / 10000, api.version() % 10000);
  if (!tender_system_is_version(version, LOWEST))
    problem = "libpq is too old: tender needs " LOWEST " or later";
}

const char *tender_pq_open(void) {
  pthread_once(&once, open_once);
  return problem;
}

struct tender_pq_option *tender_pq_parse(const char *address, char **why) {
  return api.parse(address, why);
}

struct tender_pq_option *tender_pq_options(struct tender_pq *connection) {
  return api.options(connection);
}

void tender_pq_free_options(struct tender_pq_option *options) { api.free_options(options); }

void tender_pq_free_text(char *text) { api.free_text(text); }

static _Thread_local int has_warned;

// What a server says besides: libpq would print it. A warning is remembered: with one, the server ends the wait for a
// standby that does not confirm a commit (SQLSTATE, classes 01 and 57P).
static void hush(void *context, const char *text) {
  (void)context;
  const char *code = text ? strstr(text, ":  ") : NULL;
  if (code && (!strncmp(code + 3, "01", 2) || !strncmp(code + 3, "57P", 3))) has_warned = 1;
}

int tender_pq_take_warning(void) {
  int warned = has_warned;
  has_warned = 0;
  return warned;
}

struct tender_pq *tender_pq_begin(const char *const *keywords, const char *const *values) {
  // The database's name may be a whole address.
  struct tender_pq *made = api.begin(keywords, values, 1);
  // With the codes of errors, in whatever language the server speaks: PQERRORS_VERBOSE.
  if (made) {
    api.verbosity(made, 2);
    api.notices(made, hush, NULL);
  }
  return made;
}

int tender_pq_poll(struct tender_pq *connection) { return api.poll(connection); }
int tender_pq_status(struct tender_pq *connection) { return api.status(connection); }
int tender_pq_socket(struct tender_pq *connection) { return api.socket(connection); }
int tender_pq_uses_tls(struct tender_pq *connection) { return api.tls(connection); }
const char *tender_pq_host(struct tender_pq *connection) { return api.host(connection); }
const char *tender_pq_port(struct tender_pq *connection) { return api.port(connection); }
const char *tender_pq_message(struct tender_pq *connection) { return api.message(connection); }

int tender_pq_pipeline(struct tender_pq *connection) {
  return api.nonblocking(connection, 1) == 0 && api.pipeline(connection);
}

int tender_pq_send(struct tender_pq *connection, const char *sql, int count,
                   const char *const *values) {
  return api.send(connection, sql, count, NULL, values, NULL, NULL, 0);
}

int tender_pq_sync(struct tender_pq *connection) { return api.sync(connection); }
int tender_pq_flush(struct tender_pq *connection) { return api.flush(connection); }
int tender_pq_consume(struct tender_pq *connection) { return api.consume(connection); }
int tender_pq_is_busy(struct tender_pq *connection) { return api.busy(connection); }

struct tender_pq_result *tender_pq_result(struct tender_pq *connection) {
  return api.result(connection);
}

void tender_pq_end(struct tender_pq *connection) { api.end(connection); }

int tender_pq_result_status(const struct tender_pq_result *result) {
  return api.result_status(result);
}

// PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY (postgres_ext.h).
const char *tender_pq_error_code(const struct tender_pq_result *result) {
  return api.field(result, 'C');
}

const char *tender_pq_error_text(const struct tender_pq_result *result) {
  return api.field(result, 'M');
}

int tender_pq_rows(const struct tender_pq_result *result) { return api.rows(result); }
int tender_pq_columns(const struct tender_pq_result *result) { return api.columns(result); }

unsigned tender_pq_type(const struct tender_pq_result *result, int column) {
  return api.type(result, column);
}

const char *tender_pq_value(const struct tender_pq_result *result, int row, int column) {
  return api.is_null(result, row, column) ? NULL : api.value(result, row, column);
}

int tender_pq_length(const struct tender_pq_result *result, int row, int column) {
  return api.length(result, row, column);
}

void tender_pq_free(struct tender_pq_result *result) { api.clear(result); }
