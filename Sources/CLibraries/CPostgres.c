#include "CPostgres.h"

#include "Library.h"

#include <stdio.h>
#include <string.h>

/// The lowest version that this was tried with (Libraries.tsv).
#define LOWEST "14.0"

#ifdef __APPLE__
#define FILES                                                   \
  "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", \
      "/usr/local/opt/libpq/lib/libpq.5.dylib"
#else
#define FILES "libpq.so.5"
#endif

#define CONNECTION struct tender_pq *connection
#define RESULT const struct tender_pq_result *result

// The functions that are passed on as `tender_pq_…`: result, name, libpq's name, parameters, arguments.
#define PASSED_ON(F) \
  F(struct tender_pq_option *, parse, PQconninfoParse, (const char *address, char **why), (address, why)) \
  F(struct tender_pq_option *, options, PQconninfo, (CONNECTION), (connection)) \
  F(int, poll, PQconnectPoll, (CONNECTION), (connection)) \
  F(int, status, PQstatus, (CONNECTION), (connection)) \
  F(int, socket, PQsocket, (CONNECTION), (connection)) \
  F(int, uses_tls, PQsslInUse, (CONNECTION), (connection)) \
  F(const char *, host, PQhost, (CONNECTION), (connection)) \
  F(const char *, port, PQport, (CONNECTION), (connection)) \
  F(const char *, message, PQerrorMessage, (CONNECTION), (connection)) \
  F(int, sync, PQpipelineSync, (CONNECTION), (connection)) \
  F(int, flush, PQflush, (CONNECTION), (connection)) \
  F(int, consume, PQconsumeInput, (CONNECTION), (connection)) \
  F(int, is_busy, PQisBusy, (CONNECTION), (connection)) \
  F(struct tender_pq_result *, result, PQgetResult, (CONNECTION), (connection)) \
  F(int, result_status, PQresultStatus, (RESULT), (result)) \
  F(int, rows, PQntuples, (RESULT), (result)) \
  F(int, columns, PQnfields, (RESULT), (result)) \
  F(unsigned, type, PQftype, (RESULT, int column), (result, column)) \
  F(int, length, PQgetlength, (RESULT, int row, int column), (result, row, column))

#define FUNCTIONS(F) \
  F(int, PQlibVersion, (void)) \
  F(void, PQconninfoFree, (struct tender_pq_option *)) \
  F(void, PQfreemem, (void *)) \
  F(struct tender_pq *, PQconnectStartParams, (const char *const *, const char *const *, int)) \
  F(int, PQsetErrorVerbosity, (struct tender_pq *, int)) \
  F(void *, PQsetNoticeProcessor, (struct tender_pq *, void (*)(void *, const char *), void *)) \
  F(int, PQsetnonblocking, (struct tender_pq *, int)) \
  F(int, PQenterPipelineMode, (struct tender_pq *)) \
  F(int, PQsendQueryParams, (struct tender_pq *, const char *, int, const unsigned *, \
     const char *const *, const int *, const int *, int)) \
  F(void, PQfinish, (struct tender_pq *)) \
  F(char *, PQresultErrorField, (const struct tender_pq_result *, int)) \
  F(char *, PQgetvalue, (const struct tender_pq_result *, int, int)) \
  F(int, PQgetisnull, (const struct tender_pq_result *, int, int)) \
  F(void, PQclear, (struct tender_pq_result *))

#define PASSED_MEMBER(result, name, symbol, parameters, arguments) TYPED_MEMBER(result, symbol, parameters)
#define PASSED_NAME(result, name, symbol, parameters, arguments) NAME(symbol)
#define PASSING(result, name, symbol, parameters, arguments) \
  result tender_pq_##name parameters { return api.symbol arguments; }

static struct { FUNCTIONS(TYPED_MEMBER) PASSED_ON(PASSED_MEMBER) } api;
static const char *const names[] = {FUNCTIONS(TYPED_NAME) PASSED_ON(PASSED_NAME)};
PASSED_ON(PASSING)

#define TOO_OLD "libpq is too old: tender needs " LOWEST " or later"

static const char *check(void) {
  char version[24];
  int number = api.PQlibVersion();
  snprintf(version, sizeof version, "%d.%d", number / 10000, number % 10000);
  return tender_system_is_version(version, LOWEST) ? NULL : TOO_OLD;
}

const char *tender_pq_open(void) {
  static struct library library = {
      .files = {FILES},
      .not_found = "libpq could not be opened, which a journal on PostgreSQL needs: install it with "
                   "`apt-get install libpq5` or `brew install libpq`",
      // Version 14 is the first that has all of them.
      .incomplete = TOO_OLD,
      .check = check, .names = names, .count = sizeof names / sizeof *names, .functions = &api,
  };
  return tender_library_open(&library);
}

void tender_pq_free_options(struct tender_pq_option *options) { api.PQconninfoFree(options); }
void tender_pq_free_text(char *text) { api.PQfreemem(text); }
void tender_pq_end(struct tender_pq *connection) { api.PQfinish(connection); }
void tender_pq_free(struct tender_pq_result *result) { api.PQclear(result); }

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
  struct tender_pq *made = api.PQconnectStartParams(keywords, values, 1);
  // With the codes of errors, in whatever language the server speaks: PQERRORS_VERBOSE.
  if (made) {
    api.PQsetErrorVerbosity(made, 2);
    api.PQsetNoticeProcessor(made, hush, NULL);
  }
  return made;
}

int tender_pq_pipeline(struct tender_pq *connection) {
  return api.PQsetnonblocking(connection, 1) == 0 && api.PQenterPipelineMode(connection);
}

int tender_pq_send(struct tender_pq *connection, const char *sql, int count,
                   const char *const *values) {
  return api.PQsendQueryParams(connection, sql, count, NULL, values, NULL, NULL, 0);
}

// PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY (postgres_ext.h).
const char *tender_pq_error_code(const struct tender_pq_result *result) {
  return api.PQresultErrorField(result, 'C');
}

const char *tender_pq_error_text(const struct tender_pq_result *result) {
  return api.PQresultErrorField(result, 'M');
}

const char *tender_pq_value(const struct tender_pq_result *result, int row, int column) {
  return api.PQgetisnull(result, row, column) ? NULL : api.PQgetvalue(result, row, column);
}
