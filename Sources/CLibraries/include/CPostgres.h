// libpq, opened on first use. The few needed declarations are here.
#ifndef TENDER_CPOSTGRES_H
#define TENDER_CPOSTGRES_H

#include <stddef.h>

/// A connection, an answer, and one option of an address. The members of the last are libpq's.
struct tender_pq;
struct tender_pq_result;
struct tender_pq_option {
  char *keyword;
  char *envvar;
  char *compiled;
  char *value;
  char *label;
  char *dispchar;
  int dispsize;
};

// Results of PQconnectPoll, PQstatus and PQresultStatus (libpq-fe.h).
#define TENDER_PQ_POLL_READING 1
#define TENDER_PQ_POLL_WRITING 2
#define TENDER_PQ_POLL_OK 3
#define TENDER_PQ_BAD 1
#define TENDER_PQ_COMMAND_OK 1
#define TENDER_PQ_TUPLES_OK 2
#define TENDER_PQ_COPY_OUT 3
#define TENDER_PQ_COPY_IN 4
#define TENDER_PQ_COPY_BOTH 8
#define TENDER_PQ_SINGLE_TUPLE 9
#define TENDER_PQ_SYNC 10
#define TENDER_PQ_ABORTED 11

/// The functions of libpq that are used: type, name here, libpq's name, and parameters (libpq-fe.h).
///
/// `parse` returns options, with one without a keyword at the end, or NULL with the reason. `flush` returns 0
/// if everything was sent, 1 if some is left, -1 if the connection is broken. `type` is a column's number in
/// the server's catalog. Most others return 0 if they fail.
#define TENDER_PQ_FUNCTIONS(F)                                                                     \
  F(int, version, PQlibVersion, (void))                                                            \
  F(struct tender_pq_option *, parse, PQconninfoParse, (const char *, char **))                    \
  F(struct tender_pq_option *, options, PQconninfo, (struct tender_pq *))                          \
  F(void, free_options, PQconninfoFree, (struct tender_pq_option *))                               \
  F(void, free_text, PQfreemem, (void *))                                                          \
  F(struct tender_pq *, begin, PQconnectStartParams,                                               \
    (const char *const *, const char *const *, int))                                               \
  F(int, poll, PQconnectPoll, (struct tender_pq *))                                                \
  F(int, status, PQstatus, (const struct tender_pq *))                                             \
  F(int, socket, PQsocket, (const struct tender_pq *))                                             \
  F(int, tls, PQsslInUse, (struct tender_pq *))                                                    \
  F(const char *, host, PQhost, (const struct tender_pq *))                                        \
  F(const char *, port, PQport, (const struct tender_pq *))                                        \
  F(const char *, message, PQerrorMessage, (const struct tender_pq *))                             \
  F(int, verbosity, PQsetErrorVerbosity, (struct tender_pq *, int))                                \
  F(void *, notices, PQsetNoticeProcessor,                                                         \
    (struct tender_pq *, void (*)(void *, const char *), void *))                                  \
  F(int, nonblocking, PQsetnonblocking, (struct tender_pq *, int))                                 \
  F(int, pipeline, PQenterPipelineMode, (struct tender_pq *))                                      \
  F(int, send, PQsendQueryParams,                                                                  \
    (struct tender_pq *, const char *, int, const unsigned *, const char *const *, const int *,    \
     const int *, int))                                                                            \
  F(int, prepare, PQsendPrepare,                                                                   \
    (struct tender_pq *, const char *, const char *, int, const unsigned *))                       \
  F(int, send_prepared, PQsendQueryPrepared,                                                       \
    (struct tender_pq *, const char *, int, const char *const *, const int *, const int *, int))   \
  F(int, sync, PQpipelineSync, (struct tender_pq *))                                               \
  F(int, row_by_row, PQsetSingleRowMode, (struct tender_pq *))                                     \
  F(int, flush, PQflush, (struct tender_pq *))                                                     \
  F(int, consume, PQconsumeInput, (struct tender_pq *))                                            \
  F(int, busy, PQisBusy, (struct tender_pq *))                                                     \
  F(struct tender_pq_result *, result, PQgetResult, (struct tender_pq *))                          \
  F(void, end, PQfinish, (struct tender_pq *))                                                     \
  F(int, result_status, PQresultStatus, (const struct tender_pq_result *))                         \
  F(const char *, field, PQresultErrorField, (const struct tender_pq_result *, int))               \
  F(int, rows, PQntuples, (const struct tender_pq_result *))                                       \
  F(int, columns, PQnfields, (const struct tender_pq_result *))                                    \
  F(unsigned, type, PQftype, (const struct tender_pq_result *, int))                               \
  F(const char *, value, PQgetvalue, (const struct tender_pq_result *, int, int))                  \
  F(int, is_null, PQgetisnull, (const struct tender_pq_result *, int, int))                        \
  F(int, length, PQgetlength, (const struct tender_pq_result *, int, int))                         \
  F(void, clear, PQclear, (struct tender_pq_result *))

struct tender_pq_functions {
#define TENDER_PQ_MEMBER(type, name, symbol, parameters) type(*name) parameters;
  TENDER_PQ_FUNCTIONS(TENDER_PQ_MEMBER)
#undef TENDER_PQ_MEMBER
};

/// Opens the library once. Returns its functions, or NULL with the reason.
const struct tender_pq_functions *tender_pq_open(const char **why);

/// Starts to connect. The server's notices are not printed.
struct tender_pq *tender_pq_begin(const char *const *keywords, const char *const *values);

/// Whether a server sent a warning on this thread since the last call.
int tender_pq_take_warning(void);

/// The number of bytes that a TCP connection has received; -1 if unknown.
long long tender_pq_received(int descriptor);

/// The number of bytes that can be read at once.
int tender_pq_ready(int descriptor);

/// The number of bytes of memory that this process has reserved; 0 if unknown. libpq reserves a block for a
/// whole message once it has read its length. Then it reads until the block is full or no more bytes come.
size_t tender_pq_memory(void);

#endif
