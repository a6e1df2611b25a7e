// libmicrohttpd, opened on first use: for `tender simulator serve`, and for the wait for a payer's return.
#ifndef TENDER_CMICROHTTPD_H
#define TENDER_CMICROHTTPD_H

#include <microhttpd.h>

/// Opens the library once. Returns NULL, or the reason why it cannot be used.
const char *tender_httpd_open(void);

/// The connections of one or more daemons. Above `limit`, the oldest connection without a running request is
/// ended. So silent connections do not block new ones.
struct tender_connections;
/// Creates an empty list; NULL without memory.
struct tender_connections *tender_httpd_connections_new(size_t limit);
/// Frees a list after its daemons were stopped. NULL is allowed.
void tender_httpd_connections_free(struct tender_connections *connections);
/// Sets whether a request is running on a connection.
void tender_httpd_set_busy(struct tender_connections *connections, struct MHD_Connection *connection,
                         int is_busy);

/// Starts a daemon on 127.0.0.1 with a thread for each connection; NULL if it cannot.
struct MHD_Daemon *tender_httpd_start(uint16_t port, MHD_AccessHandlerCallback handler,
                                      MHD_RequestCompletedCallback completed, void *context,
                                      struct tender_connections *connections);
/// Starts a daemon for short visits on 127.0.0.1, or on ::1; NULL with `errno` if it cannot.
struct MHD_Daemon *tender_httpd_visit(uint16_t port, int version6,
                                      MHD_AccessHandlerCallback handler,
                                      MHD_RequestCompletedCallback completed, void *context,
                                      struct tender_connections *connections);
/// The value of a parameter of the address; NULL without it.
const char *tender_httpd_argument(struct MHD_Connection *connection, const char *name);
/// The port that the daemon listens on; 0 if unknown.
uint16_t tender_httpd_port(struct MHD_Daemon *daemon);
void tender_httpd_stop(struct MHD_Daemon *daemon);
const char *tender_httpd_header(struct MHD_Connection *connection, const char *name);
int tender_httpd_each_header(struct MHD_Connection *connection, MHD_KeyValueIterator iterator,
                             void *context);
int tender_httpd_each_argument(struct MHD_Connection *connection, MHD_KeyValueIterator iterator,
                               void *context);
/// The library's enumerations. Swift does not import the names of their cases.
static inline enum MHD_Result tender_httpd_yes(void) { return MHD_YES; }
static inline enum MHD_Result tender_httpd_no(void) { return MHD_NO; }
struct MHD_Response *tender_httpd_response(size_t count, void *bytes);
struct MHD_Response *tender_httpd_upgrade(MHD_UpgradeHandler handler, void *context);
enum MHD_Result tender_httpd_add_header(struct MHD_Response *response, const char *name,
                                        const char *value);
enum MHD_Result tender_httpd_queue(struct MHD_Connection *connection, unsigned int status,
                                   struct MHD_Response *response);
void tender_httpd_destroy(struct MHD_Response *response);
/// The descriptor of a connection; -1 without one.
int tender_httpd_socket(struct MHD_Connection *connection);
/// Makes the end of a connection a reset.
void tender_httpd_reset(struct MHD_Connection *connection);
enum MHD_Result tender_httpd_close_upgraded(struct MHD_UpgradeResponseHandle *handle);

#endif
