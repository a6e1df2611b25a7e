#include "CMicroHTTPD.h"

#include "Library.h"

#include <arpa/inet.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/// One connection.
struct entry {
  int socket;
  int is_busy;
  /// Whether it has had a request.
  int is_used;
  int is_ending;
  struct entry *next;
};

struct tender_connections {
  pthread_mutex_t lock;
  size_t limit;
  /// The number of entries that were not ended by the limit.
  size_t count;
  /// The oldest entry.
  struct entry *first;
};

#define FUNCTIONS(F) \
  F(MHD_start_daemon) F(MHD_stop_daemon) F(MHD_get_daemon_info) F(MHD_get_connection_info) \
  F(MHD_lookup_connection_value) F(MHD_get_connection_values) F(MHD_create_response_from_buffer) \
  F(MHD_create_response_for_upgrade) F(MHD_add_response_header) F(MHD_queue_response) \
  F(MHD_destroy_response) F(MHD_upgrade_action) F(MHD_get_version)

static struct { FUNCTIONS(MEMBER) } api;
static const char *const names[] = {FUNCTIONS(NAME)};

static const char *version(void) { return api.MHD_get_version(); }

const char *tender_httpd_open(void) {
  static struct library library = LIBRARY(
      "libmicrohttpd", "0.9.72", "libmicrohttpd12", "libmicrohttpd", NULL,
      FILES(("libmicrohttpd.so.12"), ("libmicrohttpd.12.dylib")));
  return tender_library_open(&library);
}

struct tender_connections *tender_httpd_connections_new(size_t limit) {
  struct tender_connections *connections = calloc(1, sizeof *connections);
  if (!connections)
    return NULL;
  pthread_mutex_init(&connections->lock, NULL);
  connections->limit = limit;
  return connections;
}

void tender_httpd_connections_free(struct tender_connections *connections) {
  if (!connections)
    return;
  pthread_mutex_destroy(&connections->lock);
  free(connections);
}

/// Returns the connection that is ended above the limit; NULL if each one is in use. A connection whose first
/// request has not come yet is the last choice: its client expects an answer. A waiting request is in use too.
static struct entry *oldest_idle(struct entry *first) {
  for (int is_used = 1; is_used >= 0; is_used--)
    for (struct entry *entry = first; entry; entry = entry->next) {
      char waiting;
      if (!entry->is_busy && !entry->is_ending && entry->is_used == is_used &&
          recv(entry->socket, &waiting, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
        return entry;
    }
  return NULL;
}

/// Counts a connection at its start and end. Above the limit, it ends the oldest idle connection. A socket in
/// the list is open, because the library closes it only after it left the list.
static void notify(void *context, struct MHD_Connection *connection, void **known,
                   enum MHD_ConnectionNotificationCode code) {
  struct tender_connections *connections = context;
  struct entry *entry = *known;
  pthread_mutex_lock(&connections->lock);
  if (code == MHD_CONNECTION_NOTIFY_CLOSED && entry) {
    for (struct entry **place = &connections->first; *place; place = &(*place)->next) {
      if (*place != entry)
        continue;
      *place = entry->next;
      break;
    }
    if (!entry->is_ending)
      connections->count -= 1;
    free(entry);
    *known = NULL;
  }
  const union MHD_ConnectionInfo *info =
      api.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (code == MHD_CONNECTION_NOTIFY_STARTED && info && (entry = calloc(1, sizeof *entry))) {
    if (connections->count >= connections->limit) {
      struct entry *oldest = oldest_idle(connections->first);
      if (oldest) {
        shutdown(oldest->socket, SHUT_RDWR);
        oldest->is_ending = 1;
        connections->count -= 1;
      }
    }
    entry->socket = info->connect_fd;
    struct entry **place = &connections->first;
    while (*place)
      place = &(*place)->next;
    *place = entry;
    connections->count += 1;
    *known = entry;
  }
  pthread_mutex_unlock(&connections->lock);
}

void tender_httpd_set_busy(struct tender_connections *connections, struct MHD_Connection *connection,
                         int is_busy) {
  const union MHD_ConnectionInfo *info =
      api.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  struct entry *entry = info ? info->socket_context : NULL;
  if (!entry)
    return;
  pthread_mutex_lock(&connections->lock);
  entry->is_busy = is_busy;
  entry->is_used = 1;
  pthread_mutex_unlock(&connections->lock);
}

static struct MHD_Daemon *begin(unsigned int flags, uint16_t port, MHD_AccessHandlerCallback handler,
                                MHD_RequestCompletedCallback completed, void *context,
                                struct tender_connections *connections, unsigned int seconds) {
  struct sockaddr_in address4 = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct sockaddr_in6 address6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  address4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address6.sin6_addr = in6addr_loopback;
  const void *address = flags & MHD_USE_IPv6 ? (const void *)&address6 : (const void *)&address4;
  return api.MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | flags, port, NULL, NULL, handler, context,
      MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, notify, connections,
      // Connections that were ended here still exist for a moment.
      MHD_OPTION_CONNECTION_LIMIT, (unsigned int)(2 * connections->limit),
      MHD_OPTION_CONNECTION_TIMEOUT, seconds, MHD_OPTION_END);
}
struct MHD_Daemon *tender_httpd_start(uint16_t port, MHD_AccessHandlerCallback handler,
                                      MHD_RequestCompletedCallback completed, void *context,
                                      struct tender_connections *connections) {
#ifdef __GLIBC__
  // Hundreds of threads with an arena each would keep memory that the others cannot use.
  mallopt(M_ARENA_MAX, 2);
#endif
  return begin(MHD_USE_THREAD_PER_CONNECTION | MHD_ALLOW_UPGRADE, port, handler, completed, context,
               connections, 120);
}
struct MHD_Daemon *tender_httpd_visit(uint16_t port, int version6,
                                      MHD_AccessHandlerCallback handler,
                                      MHD_RequestCompletedCallback completed, void *context,
                                      struct tender_connections *connections) {
  return begin(version6 ? MHD_USE_IPv6 : MHD_NO_FLAG, port, handler, completed, context,
               connections, 10);
}
const char *tender_httpd_argument(struct MHD_Connection *connection, const char *name) {
  return api.MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}
uint16_t tender_httpd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = api.MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}
void tender_httpd_stop(struct MHD_Daemon *daemon) { api.MHD_stop_daemon(daemon); }
const char *tender_httpd_header(struct MHD_Connection *connection, const char *name) {
  return api.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}
int tender_httpd_each_header(struct MHD_Connection *connection, MHD_KeyValueIterator iterator,
                             void *context) {
  return api.MHD_get_connection_values(connection, MHD_HEADER_KIND, iterator, context);
}
int tender_httpd_each_argument(struct MHD_Connection *connection, MHD_KeyValueIterator iterator,
                               void *context) {
  return api.MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, iterator, context);
}
struct MHD_Response *tender_httpd_response(size_t count, void *bytes) {
  return api.MHD_create_response_from_buffer(count, bytes, MHD_RESPMEM_MUST_COPY);
}
struct MHD_Response *tender_httpd_upgrade(MHD_UpgradeHandler handler, void *context) {
  return api.MHD_create_response_for_upgrade(handler, context);
}
enum MHD_Result tender_httpd_add_header(struct MHD_Response *response, const char *name,
                                        const char *value) {
  return api.MHD_add_response_header(response, name, value);
}
enum MHD_Result tender_httpd_queue(struct MHD_Connection *connection, unsigned int status,
                                   struct MHD_Response *response) {
  return api.MHD_queue_response(connection, status, response);
}
void tender_httpd_destroy(struct MHD_Response *response) { api.MHD_destroy_response(response); }
enum MHD_Result tender_httpd_close_upgraded(struct MHD_UpgradeResponseHandle *handle) {
  return api.MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}
int tender_httpd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      api.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}
void tender_httpd_reset(struct MHD_Connection *connection) {
  int descriptor = tender_httpd_socket(connection);
  struct linger now = {.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
#ifdef __linux__
  // Resets the connection at once. Otherwise the library would close it in order.
  struct sockaddr nothing = {.sa_family = AF_UNSPEC};
  connect(descriptor, &nothing, sizeof nothing);
#endif
}
