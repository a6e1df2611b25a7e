#include <sqlite3.h>

/// Leaves the write-ahead log in place when the last connection closes; variadic in C.
static inline int tender_sqlite_keep_log(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// SQLITE_TRANSIENT is a cast that Swift does not import.
static inline int tender_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text,
                                          int length) {
  return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}
