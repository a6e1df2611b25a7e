#include <sqlite3.h>

/// Keeps the memory that each connection sets aside small: SQLite writes to all of it when it opens one,
/// and a command opens two. What sorting a large file takes goes to `folder`, not where everybody may
/// write. Before the first connection; later it is not safe.
static inline int tender_sqlite_configure(const char *folder) {
  int problem = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 256, 32);
  sqlite3_temp_directory = sqlite3_mprintf("%s", folder);
  return problem;
}

/// Leaves the write-ahead log in place when the last connection closes; variadic in C.
static inline int tender_sqlite_keep_log(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Takes a file for what somebody else may have made: no trigger or view of it runs, its schema may
/// call no function with effects, and nothing can be written past the schema. 0 where that is so.
static inline int tender_sqlite_defend(sqlite3 *database) {
  static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                            SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_FKEY};
  int problem = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  for (unsigned index = 0; index < sizeof off / sizeof *off; index++)
    problem |= sqlite3_db_config(database, off[index], 0, (int *)0);
  return problem;
}

/// SQLITE_TRANSIENT is a cast that Swift does not import.
static inline int tender_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text,
                                          int length) {
  return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}
