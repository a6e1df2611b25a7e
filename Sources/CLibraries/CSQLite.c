#include "CSQLite.h"

#include "Library.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

// Functions for this file alone. `sqlite3_temp_directory` is a variable.
#define OWN_FUNCTIONS(F) \
  F(sqlite3_bind_text) F(sqlite3_config) F(sqlite3_db_config) F(sqlite3_file_control) \
  F(sqlite3_libversion) F(sqlite3_mprintf) F(sqlite3_temp_directory) F(sqlite3_vfs_find)

// Functions that the program calls by their own names: F(result, name, parameters, arguments).
#define FUNCTIONS(F) \
  F(int, sqlite3_open_v2, (const char *path, sqlite3 **database, int flags, const char *system), \
    (path, database, flags, system)) \
  F(int, sqlite3_close_v2, (sqlite3 *database), (database)) \
  F(int, sqlite3_busy_timeout, (sqlite3 *database, int milliseconds), (database, milliseconds)) \
  F(int, sqlite3_sleep, (int milliseconds), (milliseconds)) \
  F(int, sqlite3_get_autocommit, (sqlite3 *database), (database)) \
  F(sqlite3_int64, sqlite3_last_insert_rowid, (sqlite3 *database), (database)) \
  F(const char *, sqlite3_errmsg, (sqlite3 *database), (database)) \
  F(const char *, sqlite3_errstr, (int problem), (problem)) \
  F(int, sqlite3_exec, \
    (sqlite3 *database, const char *script, int (*row)(void *, int, char **, char **), void *context, \
     char **message), \
    (database, script, row, context, message)) \
  F(int, sqlite3_prepare_v2, \
    (sqlite3 *database, const char *text, int length, sqlite3_stmt **statement, const char **rest), \
    (database, text, length, statement, rest)) \
  F(int, sqlite3_step, (sqlite3_stmt *statement), (statement)) \
  F(int, sqlite3_reset, (sqlite3_stmt *statement), (statement)) \
  F(int, sqlite3_finalize, (sqlite3_stmt *statement), (statement)) \
  F(int, sqlite3_clear_bindings, (sqlite3_stmt *statement), (statement)) \
  F(int, sqlite3_bind_null, (sqlite3_stmt *statement, int index), (statement, index)) \
  F(int, sqlite3_bind_int64, (sqlite3_stmt *statement, int index, sqlite3_int64 number), \
    (statement, index, number)) \
  F(int, sqlite3_column_count, (sqlite3_stmt *statement), (statement)) \
  F(int, sqlite3_column_type, (sqlite3_stmt *statement, int column), (statement, column)) \
  F(int, sqlite3_column_bytes, (sqlite3_stmt *statement, int column), (statement, column)) \
  F(sqlite3_int64, sqlite3_column_int64, (sqlite3_stmt *statement, int column), \
    (statement, column)) \
  F(const unsigned char *, sqlite3_column_text, (sqlite3_stmt *statement, int column), \
    (statement, column))

static struct { FUNCTIONS(TYPED_MEMBER) OWN_FUNCTIONS(MEMBER) } api;
static const char *const names[] = {FUNCTIONS(TYPED_NAME) OWN_FUNCTIONS(NAME)};

static const char *version(void) { return api.sqlite3_libversion(); }

const char *tender_sqlite_open(void) {
  static struct library library = LIBRARY(
      "SQLite", "3.40.0", "libsqlite3-0", "sqlite", NULL,
      FILES(("libsqlite3.so.0"), ("libsqlite3.dylib", "/usr/lib/libsqlite3.dylib")));
  return tender_library_open(&library);
}

#define FORWARD(result, name, parameters, arguments) \
  result name parameters { return api.name arguments; }
FUNCTIONS(FORWARD)

/// Maps a part of the shared index of a log, with a block on the disk for each of its bytes.
///
/// SQLite writes only one byte of each 4096. With smaller blocks, the other bytes would have no block. On a
/// full disk, writing there ends the process by SIGBUS.
static void *map(void *address, size_t length, int protection, int flags, int file, off_t start) {
#ifdef __linux__
  struct stat status;
  if ((protection & PROT_WRITE) && fstat(file, &status) == 0 && status.st_blksize < 4096
      && syscall(SYS_fallocate, file, 0, start, length) != 0 && errno == ENOSPC)
    return MAP_FAILED;
#endif
  return mmap(address, length, protection, flags, file, start);
}

int tender_sqlite_configure(const char *folder) {
  int problem = api.sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 256, 32);
  problem |= api.sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  *api.sqlite3_temp_directory = api.sqlite3_mprintf("%s", folder);
  sqlite3_vfs *system = api.sqlite3_vfs_find(0);
  if (system && system->iVersion >= 3)
    problem |= system->xSetSystemCall(system, "mmap", (sqlite3_syscall_ptr)map);
  return problem;
}

int tender_sqlite_keep_log(sqlite3 *database) {
  return api.sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

int tender_sqlite_defend(sqlite3 *database) {
  static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                            SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_FKEY};
  int problem = api.sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  for (unsigned index = 0; index < sizeof off / sizeof *off; index++)
    problem |= api.sqlite3_db_config(database, off[index], 0, (int *)0);
  return problem;
}

int tender_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
  return api.sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

sqlite3_file *tender_sqlite_log(sqlite3 *database) {
  sqlite3_file *log = 0;
  int problem = api.sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  return problem == SQLITE_OK && log && log->pMethods ? log : 0;
}

int tender_sqlite_sync(sqlite3_file *log) {
  return log ? log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) : SQLITE_IOERR_FSYNC;
}

/// Opens no descriptor of a folder. Then SQLite does not sync it.
static int no_folder(const char *path, int *descriptor) {
  (void)path;
  *descriptor = -1;
  return SQLITE_CANTOPEN;
}

/// SQLite's own function that opens the folder of a file, which SQLite then syncs.
static int (*own_opener)(const char *path, int *descriptor);

/// Syncs the folder of a log once in a process. Without a descriptor, SQLite does not sync it again for each
/// further connection.
static int sync_folder_once(const char *path, int *descriptor) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct { dev_t device; ino_t number; } synced[8];
  static unsigned count;
  struct stat status;
  size_t length = strlen(path);
  // A log is not deleted. Other files are created again, perhaps with the same number. Their folder is always synced.
  if (length < 4 || strcmp(path + length - 4, "-wal") != 0 || stat(path, &status) != 0)
    return own_opener(path, descriptor);
  pthread_mutex_lock(&lock);
  int isSynced = 0;
  for (unsigned index = 0; index < count; index++)
    isSynced |= synced[index].device == status.st_dev && synced[index].number == status.st_ino;
  int problem = isSynced ? SQLITE_CANTOPEN : own_opener(path, descriptor);
  if (isSynced)
    *descriptor = -1;
  else if (problem == SQLITE_OK && count < sizeof synced / sizeof *synced && fsync(*descriptor) == 0) {
    synced[count].device = status.st_dev;
    synced[count++].number = status.st_ino;
    close(*descriptor);
    *descriptor = -1;
    problem = SQLITE_CANTOPEN;
  }
  pthread_mutex_unlock(&lock);
  return problem;
}

int tender_sqlite_sync_folder(int does) {
  sqlite3_vfs *system = api.sqlite3_vfs_find(0);
  if (!system || system->iVersion < 3)
    return SQLITE_ERROR;
  if (!own_opener)
    own_opener = (int (*)(const char *, int *))system->xGetSystemCall(system, "openDirectory");
  sqlite3_syscall_ptr call = (sqlite3_syscall_ptr)no_folder;
  if (does)
    call = own_opener ? (sqlite3_syscall_ptr)sync_folder_once : 0;
  return system->xSetSystemCall(system, "openDirectory", call);
}
