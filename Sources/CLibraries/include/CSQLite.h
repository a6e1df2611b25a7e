// SQLite: the functions used here, under their own names. `tender_sqlite_open` comes before them.
#ifndef TENDER_CSQLITE_H
#define TENDER_CSQLITE_H

// They are not visible outside of the program, so no library calls them instead of its own.
#pragma GCC visibility push(hidden)
#include <sqlite3.h>
#pragma GCC visibility pop

/// Opens the library. Returns NULL, or the reason why it cannot be used.
const char *tender_sqlite_open(void);

/// Limits the memory of each connection: SQLite writes to all of it at opening, and a command opens two. Does not
/// count the memory in use, which would take a lock at each allocation.
/// Sorting a large file uses `folder`, not a folder that everybody may write. Call it before the first
/// connection, since it is not safe later.
int tender_sqlite_configure(const char *folder);

/// Leaves the write-ahead log in place when the last connection closes; variadic in C.
int tender_sqlite_keep_log(sqlite3 *database);

/// Opens a file as untrusted. Its triggers and views do not run, and its schema may call no function with
/// effects. The schema cannot be overwritten. Returns 0 on success.
int tender_sqlite_defend(sqlite3 *database);

/// SQLITE_TRANSIENT is a cast that Swift does not import.
int tender_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length);

/// Returns the open write-ahead log of a connection; NULL without one.
sqlite3_file *tender_sqlite_log(sqlite3 *database);

/// Syncs all commits in a log to the disk, of all connections. Returns 0 on success.
int tender_sqlite_sync(sqlite3_file *log);

/// Sets whether the first sync of each log also syncs its folder. SQLite does not distinguish an existing log
/// from a new one, and syncs the folder once in each process. Only a new log needs that.
int tender_sqlite_sync_folder(int does);

#endif
