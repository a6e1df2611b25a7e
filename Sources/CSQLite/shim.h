#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

/// Maps a part of the shared index of a log, with a block on the disk for each of its bytes.
///
/// SQLite writes only one byte of each 4096. With smaller blocks, the other bytes would have no block. On a
/// full disk, writing there ends the process by SIGBUS.
static inline void *tender_sqlite_map(void *address, size_t length, int protection, int flags, int file,
                                      off_t start) {
#ifdef __linux__
  struct stat status;
  if ((protection & PROT_WRITE) && fstat(file, &status) == 0 && status.st_blksize < 4096
      && syscall(SYS_fallocate, file, 0, start, length) != 0 && errno == ENOSPC)
    return MAP_FAILED;
#endif
  return mmap(address, length, protection, flags, file, start);
}

/// Limits the memory of each connection: SQLite writes to all of it at opening, and a command opens two. Does not
/// count the memory in use, which would take a lock at each allocation.
/// Sorting a large file uses `folder`, not a folder that everybody may write. Call it before the first
/// connection, since it is not safe later.
static inline int tender_sqlite_configure(const char *folder) {
  int problem = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 256, 32);
  problem |= sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3_temp_directory = sqlite3_mprintf("%s", folder);
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  if (system && system->iVersion >= 3)
    problem |= system->xSetSystemCall(system, "mmap", (sqlite3_syscall_ptr)tender_sqlite_map);
  return problem;
}

/// Leaves the write-ahead log in place when the last connection closes; variadic in C.
static inline int tender_sqlite_keep_log(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Opens a file as untrusted. Its triggers and views do not run, and its schema may call no function with
/// effects. The schema cannot be overwritten. Returns 0 on success.
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

/// Syncs all commits in the write-ahead log to the disk, of all connections. Returns 0 on success.
static inline int tender_sqlite_sync_log(sqlite3 *database) {
  sqlite3_file *log = 0;
  int problem = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (problem != SQLITE_OK)
    return problem;
  if (!log || !log->pMethods)
    return SQLITE_IOERR_FSYNC;
  return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

/// Opens no descriptor of a folder. Then SQLite does not sync it.
static inline int tender_sqlite_no_folder(const char *path, int *descriptor) {
  (void)path;
  *descriptor = -1;
  return SQLITE_CANTOPEN;
}

/// A function that opens the folder of a file, which SQLite then syncs.
typedef int (*tender_sqlite_opener)(const char *path, int *descriptor);

/// The place of SQLite's own function.
static inline tender_sqlite_opener *tender_sqlite_own_opener(void) {
  static tender_sqlite_opener own;
  return &own;
}

/// Syncs the folder of a log once in a process. Without a descriptor, SQLite does not sync it again for each
/// further connection.
static inline int tender_sqlite_sync_folder_once(const char *path, int *descriptor) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct { dev_t device; ino_t number; } synced[8];
  static unsigned count;
  struct stat status;
  size_t length = strlen(path);
  // A log is not deleted. Other files are created again, perhaps with the same number. Their folder is always synced.
  if (length < 4 || strcmp(path + length - 4, "-wal") != 0 || stat(path, &status) != 0)
    return (*tender_sqlite_own_opener())(path, descriptor);
  pthread_mutex_lock(&lock);
  int isSynced = 0;
  for (unsigned index = 0; index < count; index++)
    isSynced |= synced[index].device == status.st_dev && synced[index].number == status.st_ino;
  int problem = isSynced ? SQLITE_CANTOPEN : (*tender_sqlite_own_opener())(path, descriptor);
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

/// Sets whether the first sync of each log also syncs its folder. SQLite does not distinguish an existing log
/// from a new one, and syncs the folder once in each process. Only a new log needs that.
static inline int tender_sqlite_sync_folder(int does) {
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  if (!system || system->iVersion < 3)
    return SQLITE_ERROR;
  tender_sqlite_opener *own = tender_sqlite_own_opener();
  if (!*own)
    *own = (tender_sqlite_opener)system->xGetSystemCall(system, "openDirectory");
  sqlite3_syscall_ptr call = (sqlite3_syscall_ptr)tender_sqlite_no_folder;
  if (does)
    call = *own ? (sqlite3_syscall_ptr)tender_sqlite_sync_folder_once : 0;
  return system->xSetSystemCall(system, "openDirectory", call);
}
