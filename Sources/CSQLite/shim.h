#include <errno.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// Maps a part of the shared index of a log, with a block on the disk for each of its bytes.
///
/// SQLite writes one byte of each 4096 for that. Where blocks are smaller the rest has none, and to write there on a full
/// disk ends the process by SIGBUS.
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

/// Keeps the memory that each connection sets aside small: SQLite writes to all of it when it opens one,
/// and a command opens two. What sorting a large file takes goes to `folder`, not where everybody may
/// write. Before the first connection; later it is not safe.
static inline int tender_sqlite_configure(const char *folder) {
  int problem = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 256, 32);
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

/// Puts what was committed to the write-ahead log on the disk, whichever connection wrote it. 0 where it is.
static inline int tender_sqlite_sync_log(sqlite3 *database) {
  sqlite3_file *log = 0;
  int problem = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (problem != SQLITE_OK)
    return problem;
  if (!log || !log->pMethods)
    return SQLITE_IOERR_FSYNC;
  return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

/// No descriptor of a folder: SQLite then leaves it unsynced.
static inline int tender_sqlite_no_folder(const char *path, int *descriptor) {
  (void)path;
  *descriptor = -1;
  return SQLITE_CANTOPEN;
}

/// Whether the first sync of each log also syncs its folder. SQLite opens a log that is there like one that
/// it makes, and syncs the folder once in each process; only a log that is new needs that.
static inline int tender_sqlite_sync_folder(int does) {
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  sqlite3_syscall_ptr call = does ? 0 : (sqlite3_syscall_ptr)tender_sqlite_no_folder;
  if (!system || system->iVersion < 3)
    return SQLITE_ERROR;
  return system->xSetSystemCall(system, "openDirectory", call);
}
