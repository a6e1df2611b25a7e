// libpq, opened on first use: the few declarations that are needed stand here.
#ifndef TENDER_CPOSTGRES_H
#define TENDER_CPOSTGRES_H

/// Opens the library once; NULL, or why it could not be opened.
const char *tender_pq_open(void);

/// A connection, an answer, and one option of an address; the members of the last are libpq's own.
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

// What PQconnectPoll, PQstatus and PQresultStatus give (libpq-fe.h).
#define TENDER_PQ_POLL_READING 1
#define TENDER_PQ_POLL_WRITING 2
#define TENDER_PQ_POLL_OK 3
#define TENDER_PQ_BAD 1
#define TENDER_PQ_COMMAND_OK 1
#define TENDER_PQ_TUPLES_OK 2
#define TENDER_PQ_SYNC 10
#define TENDER_PQ_ABORTED 11

/// Options of an address, ended by one without a keyword; NULL with the reason where it is none.
struct tender_pq_option *tender_pq_parse(const char *address, char **problem);
/// The options that a connection ended up with.
struct tender_pq_option *tender_pq_options(struct tender_pq *connection);
void tender_pq_free_options(struct tender_pq_option *options);
void tender_pq_free_text(char *text);

struct tender_pq *tender_pq_begin(const char *const *keywords, const char *const *values);
int tender_pq_poll(struct tender_pq *connection);
int tender_pq_status(struct tender_pq *connection);
int tender_pq_socket(struct tender_pq *connection);
int tender_pq_uses_tls(struct tender_pq *connection);
const char *tender_pq_host(struct tender_pq *connection);
const char *tender_pq_port(struct tender_pq *connection);
const char *tender_pq_message(struct tender_pq *connection);
/// From here on nothing blocks, and several statements go out before the first answer: 0 where that fails.
int tender_pq_pipeline(struct tender_pq *connection);
/// Sends a statement with parameters as text, of which a NULL is null: 0 where it cannot.
int tender_pq_send(struct tender_pq *connection, const char *sql, int count,
                   const char *const *values);
int tender_pq_sync(struct tender_pq *connection);
/// 0 where everything has left, 1 where some is left, -1 where the connection is broken.
int tender_pq_flush(struct tender_pq *connection);
/// Takes in what has arrived: 0 where the connection is broken.
int tender_pq_consume(struct tender_pq *connection);
/// Whether a server warned of something on this thread since the last call.
int tender_pq_take_warning(void);
int tender_pq_is_busy(struct tender_pq *connection);
struct tender_pq_result *tender_pq_result(struct tender_pq *connection);
void tender_pq_end(struct tender_pq *connection);

int tender_pq_result_status(const struct tender_pq_result *result);
/// The code (SQLSTATE) or the text of an error, or NULL.
const char *tender_pq_error_code(const struct tender_pq_result *result);
const char *tender_pq_error_text(const struct tender_pq_result *result);
int tender_pq_rows(const struct tender_pq_result *result);
int tender_pq_columns(const struct tender_pq_result *result);
/// The type of a column by its number in the server's catalogue (20, 21 and 23 are integers).
unsigned tender_pq_type(const struct tender_pq_result *result, int column);
/// A value as text; NULL where it is null.
const char *tender_pq_value(const struct tender_pq_result *result, int row, int column);
int tender_pq_length(const struct tender_pq_result *result, int row, int column);
void tender_pq_free(struct tender_pq_result *result);

#endif
