#include "include/TenderFaults.h"

#if defined(__linux__)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum kind { NOTHING, COUNT, NO_SPACE, IO_ERROR, BUSY, KILL, POWER, STOP, SPARSE };

/// The content of a file before a write that is not synced yet.
struct image {
  struct image *older;
  dev_t device;
  ino_t number;
  char path[512];
  off_t position;
  size_t length;
  off_t size;
  unsigned char *bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum kind kind;
static long target, count;
static int is_full, is_busy;
static char folder[512];
static struct image *images;
static uint64_t seed;
static int report = -1, journal = -1, probe = -1;

static uint64_t next_random(void) {
  seed += 0x9e3779b97f4a7c15;
  uint64_t value = seed;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("TENDER_PROBE");
  if (wanted != NULL) {
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
    probe = (int)syscall(SYS_openat, AT_FDCWD, wanted, flags, 0600);
  }
  const char *text = getenv("TENDER_FAULT");
  const char *below = getenv("TENDER_FAULT_FOLDER");
  if (text == NULL || below == NULL) return;
  snprintf(folder, sizeof folder, "%s/", below);
  const char *given = getenv("TENDER_FAULT_SEED");
  seed = given == NULL ? 1 : strtoull(given, NULL, 10);
  const struct { const char *name; enum kind kind; } kinds[] = {
    {"count:", COUNT}, {"enospc:", NO_SPACE}, {"eio:", IO_ERROR}, {"busy:", BUSY},
    {"kill:", KILL},   {"power:", POWER},    {"stop:", STOP},     {"sparse:", SPARSE},
  };
  for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
    size_t length = strlen(kinds[index].name);
    if (strncmp(text, kinds[index].name, length) != 0) continue;
    kind = kinds[index].kind;
    target = strtol(text + length, NULL, 10);
  }
  const char *list = getenv("TENDER_FAULT_LOG");
  if (list != NULL) {
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
    journal = (int)syscall(SYS_openat, AT_FDCWD, list, flags, 0600);
  }
  const char *path = getenv("TENDER_FAULT_REPORT");
  if (path != NULL) {
    report = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
}

/// Whether a descriptor is of a file below the folder. Returns its path.
static int is_ours(int descriptor, char *path, size_t size) {
  if (kind == NOTHING) return 0;
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(name, path, size - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

/// Undoes the unsynced writes, newest first, each sector by chance.
static void lose_power(void) {
  for (struct image *image = images; image != NULL; image = image->older) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, image->path, O_RDWR, 0);
    if (file < 0) continue;
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_ino == image->number) {
      int all = 1;
      for (size_t at = 0; at < image->length;) {
        size_t room = 512 - (size_t)((image->position + (off_t)at) % 512);
        size_t part = image->length - at < room ? image->length - at : room;
        if (next_random() & 1) {
          syscall(SYS_pwrite64, file, image->bytes + at, part, image->position + (off_t)at);
        } else {
          all = 0;
        }
        at += part;
      }
      if (all) (void)!syscall(SYS_ftruncate, file, image->size);
    }
    syscall(SYS_close, file);
  }
  // Data that were only in memory are lost.
  for (const char *const *name = (const char *const[]){"tender/journal.db-shm", NULL}; *name; name++) {
    char path[1024];
    snprintf(path, sizeof path, "%s%s", folder, *name);
    unlink(path);
  }
}

/// Whether a write that ends at a position makes the file longer.
static int grows(int descriptor, off_t end) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && end > status.st_size;
}

/// Counts a call. Returns an error number if it must fail.
///
/// On a full disk, a write into allocated space still succeeds.
static int strikes(int is_file, int grows, const char *call, const char *path) {
  count++;
  if (journal >= 0) {
    char text[600];
    const char *name = path == NULL ? NULL : strrchr(path, '/');
    int length = snprintf(text, sizeof text, "%s %s\n", call, name == NULL ? "-" : name + 1);
    syscall(SYS_write, journal, text, length);
  }
  if (report >= 0) {
    // The last number stays in the file, however the program ends.
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", count);
    syscall(SYS_pwrite64, report, text, length, 0);
  }
  if (count == target && kind == NO_SPACE) is_full = 1;
  if (is_full && grows) return ENOSPC;
  if (count != target) return 0;
  switch (kind) {
  case IO_ERROR: return is_file ? EIO : 0;
  case BUSY: is_busy = 1; return 0;
  case KILL: die(); return 0;
  case POWER: lose_power(); die(); return 0;
  // The process stops until it is continued. Then the call is made.
  case STOP: syscall(SYS_kill, getpid(), SIGSTOP); return 0;
  default: return 0;
  }
}

static void remember(int descriptor, const char *path, size_t length, off_t position) {
  if (kind != POWER) return;
  struct stat status;
  if (fstat(descriptor, &status) != 0) return;
  struct image *image = calloc(1, sizeof *image);
  if (image == NULL) return;
  image->bytes = calloc(1, length + 1);
  if (image->bytes == NULL) return;
  (void)!syscall(SYS_pread64, descriptor, image->bytes, length, position);
  image->device = status.st_dev;
  image->number = status.st_ino;
  image->position = position;
  image->length = length;
  image->size = status.st_size;
  snprintf(image->path, sizeof image->path, "%s", path);
  image->older = images;
  images = image;
}

static void forget(int descriptor) {
  struct stat status;
  if (kind != POWER || fstat(descriptor, &status) != 0) return;
  for (struct image **place = &images; *place != NULL;) {
    struct image *image = *place;
    if (image->device == status.st_dev && image->number == status.st_ino) {
      *place = image->older;
      free(image->bytes);
      free(image);
    } else {
      place = &image->older;
    }
  }
}

static void tell(const char *what, int failed) {
  char text[64];
  int length = snprintf(text, sizeof text, "%s %d\n", what, failed ? errno : 0);
  syscall(SYS_write, probe, text, length);
}

static void try_connection(const char *what, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  tell(what, socket_ < 0 || connect(socket_, (struct sockaddr *)&address, sizeof address) != 0);
  syscall(SYS_close, socket_);
}

/// Tries the accesses of an attacker in the process.
static void try_everything(void) {
  static int is_done;
  if (probe < 0 || is_done++) return;
  const char *below = getenv("TENDER_PROBE_FOLDER");
  char path[1024];
  snprintf(path, sizeof path, "%s/private", below == NULL ? "/nowhere" : below);
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  tell("read", file < 0);
  file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  tell("write", file < 0);
  snprintf(path, sizeof path, "%s/new", below == NULL ? "/nowhere" : below);
  file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  tell("make", file < 0);
  char *arguments[] = {"/bin/true", NULL}, *nothing[] = {NULL};
  tell("exec", execve(arguments[0], arguments, nothing) != 0);
  tell("ptrace", syscall(SYS_ptrace, 0, 0, 0, 0) != 0);
  char byte, other = 0;
  struct iovec mine = {&byte, 1}, theirs = {&other, 1};
  tell("peek", syscall(SYS_process_vm_readv, getpid(), &mine, 1, &theirs, 1, 0) < 0);
  tell("unshare", syscall(SYS_unshare, 0x10000000) != 0);
  try_connection("port-9", 9);
  try_connection("port-443", 443);
  // These accesses must still work.
  struct addrinfo *found = NULL;
  tell("name", getaddrinfo("localhost", "443", NULL, &found) != 0);
  void *library = dlopen("libxml2.so.2", RTLD_LAZY);
  tell("library", library == NULL);
  file = (int)syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC, 0);
  tell("etc", file < 0);
}

// Tests which accesses the kernel still allows as soon as a command has restricted itself, before its work.

static int bounds = -1;

static void judge(const char *what, const char *of, long result) {
  char text[1200];
  int length = snprintf(text, sizeof text, "%s %d%s%s\n", what, result < 0 ? errno : 0, *of ? " " : "", of);
  syscall(SYS_write, bounds, text, length);
}

static void try_path(const char *path) {
  struct stat status;
  int is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
  long opened = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  judge("read", path, opened);
  if (opened >= 0) syscall(SYS_close, opened);
  if (is_folder) {
    char made[1100];
    snprintf(made, sizeof made, "%s/.made-by-a-test", path);
    opened = syscall(SYS_openat, AT_FDCWD, made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    judge("make", path, opened);
    if (opened >= 0) unlink(made);
  } else {
    opened = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    judge("write", path, opened);
    // An allowed access is made, but only to files of the test's home.
    const char *home = getenv("HOME");
    if (home != NULL && strncmp(path, home, strlen(home)) == 0) {
      judge("chmod", path, syscall(SYS_fchmodat, AT_FDCWD, path, 0644));
      struct timespec times[2] = {{1, 0}, {1, 0}};
      judge("touch", path, syscall(SYS_utimensat, AT_FDCWD, path, times, 0));
    }
  }
  if (opened >= 0) syscall(SYS_close, opened);
}

/// Creates a socket. If that works and an address is given, it connects there.
static void try_socket(const char *what, int family, int type, int protocol) {
  long made = syscall(SYS_socket, family, type | SOCK_CLOEXEC, protocol);
  judge("socket", what, made);
  if (made >= 0) syscall(SYS_close, made);
}

static void try_port(int port, int listens) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  long made = syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  char text[16];
  snprintf(text, sizeof text, "%d", port);
  judge(listens ? "listen" : "connect", text,
        made < 0 ? made : syscall(listens ? SYS_bind : SYS_connect, made, &address, sizeof address));
  if (made >= 0) syscall(SYS_close, made);
}

static void try_unix(const char *what, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  size_t size = offsetof(struct sockaddr_un, sun_path) + strlen(address.sun_path);
  if (*path == '@') address.sun_path[0] = 0;
  long made = syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  judge(what, "", made < 0 ? made : syscall(SYS_connect, made, &address, size));
  if (made >= 0) syscall(SYS_close, made);
}

/// Tries accesses that other processes could notice. Allowed calls fail for other reasons than a restriction.
static void try_shared(void) {
  judge("memory", "any", syscall(SYS_shmctl, 1 << 30, 0, NULL));
  judge("memory", "attach", syscall(SYS_shmat, 1 << 30, NULL, 0));
  judge("message", "make", syscall(SYS_msgget, 1234, 0600));
  judge("message", "send", syscall(SYS_msgsnd, 1 << 30, "", 0, 04000));
  judge("message", "take", syscall(SYS_msgrcv, 1 << 30, NULL, 0, 0, 04000));
  judge("kernel", "log", syscall(SYS_syslog, 10, NULL, 0));
  long watch = syscall(SYS_fanotify_init, 0x200, 0);
  judge("watch", "files", watch);
  if (watch >= 0) syscall(SYS_close, watch);
  judge("semaphore", "", syscall(SYS_semctl, 1 << 30, 0, 12, NULL));
  int ends[2] = {-1, -1};
  judge("pair", "stream", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
  const char *named = getenv("TENDER_BOUNDS_SOCKET");
  struct sockaddr_un path = {.sun_family = AF_UNIX};
  snprintf(path.sun_path, sizeof path.sun_path, "%s", named ? named : "/");
  judge("pair", "path", sendto(ends[0], "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&path, sizeof path));
  judge("pair", "datagram", socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends));
  judge("pair", "packets", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
  try_socket("netlink", AF_NETLINK, SOCK_RAW, 0);
  // FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR and FS_IOC_SETVERSION on the report itself, with an address that
  // cannot be read.
  judge("attributes", "flags", syscall(SYS_ioctl, bounds, 0x40086602, NULL));
  judge("attributes", "project", syscall(SYS_ioctl, bounds, 0x401c5820, NULL));
  judge("attributes", "version", syscall(SYS_ioctl, bounds, 0x40087602, NULL));
  judge("attributes", "high", syscall(SYS_ioctl, bounds, 0x40086602 | 1UL << 32, NULL));
  long made = syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  judge("listen", "unbound", made < 0 ? made : syscall(SYS_listen, made, 1));
  made = syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  judge("listen", "udp", made < 0 ? made : syscall(SYS_bind, made, &address, sizeof address));
}

static void try_bounds(void) {
  const char *paths = getenv("TENDER_BOUNDS_PATHS"), *other = getenv("TENDER_BOUNDS_PROCESS");
  const char *unix_socket = getenv("TENDER_BOUNDS_SOCKET"), *ports = getenv("TENDER_BOUNDS_PORTS");
  char list[8192];
  snprintf(list, sizeof list, "%s", paths ? paths : "");
  char *rest = NULL;
  for (char *path = strtok_r(list, ":", &rest); path; path = strtok_r(NULL, ":", &rest)) try_path(path);
  char *arguments[] = {"/bin/true", NULL}, *nothing[] = {NULL};
  // If it is allowed, this process is replaced, and its report ends here.
  if (getenv("TENDER_BOUNDS_EXEC")) judge("exec", "", execve(arguments[0], arguments, nothing));
  snprintf(list, sizeof list, "%s", ports ? ports : "");
  for (char *port = strtok_r(list, ":", &rest); port; port = strtok_r(NULL, ":", &rest)) {
    try_port(atoi(port), 0);
    try_port(atoi(port), 1);
  }
  try_socket("tcp", AF_INET, SOCK_STREAM, 0);
  try_socket("tcp6", AF_INET6, SOCK_STREAM, IPPROTO_TCP);
  try_socket("udp", AF_INET, SOCK_DGRAM, 0);
  try_socket("mptcp", AF_INET, SOCK_STREAM, 262);
  try_socket("ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
  try_socket("raw", AF_INET, SOCK_RAW, IPPROTO_RAW);
  try_socket("packet", 17, SOCK_RAW, 0);
  try_socket("vsock", 40, SOCK_STREAM, 0);
  try_socket("unix", AF_UNIX, SOCK_STREAM, 0);
  try_socket("bluetooth", 31, SOCK_STREAM, 3);
  if (unix_socket) try_unix("local", unix_socket);
  const char *abstract_socket = getenv("TENDER_BOUNDS_ABSTRACT");
  if (abstract_socket) try_unix("abstract", abstract_socket);
  if (other) judge("kill", "other", syscall(SYS_kill, atoi(other), 0));
  if (other) judge("limit", "other", syscall(SYS_prlimit64, atoi(other), 7, NULL, NULL));
  if (other) judge("pidfd", "other", syscall(434, atoi(other), 0));
  judge("kill", "group", syscall(SYS_kill, 0, 0));
  judge("kill", "own", syscall(SYS_kill, getpid(), 0));
  char letter = 'x';
  judge("type", "", syscall(SYS_ioctl, 0, TIOCSTI, &letter));
  // The kernel ignores the upper half of the number.
  judge("type", "high", syscall(SYS_ioctl, 0, TIOCSTI | 1UL << 32, &letter));
  judge("owner", "", syscall(SYS_fcntl, bounds, F_SETOWN, getppid()));
  judge("ring", "", syscall(425, 1, NULL));
  long child = syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  judge("namespace", "", child);
  judge("memory", "", syscall(SYS_shmget, 1234, 4096, 0600));
  try_shared();
  if (other) judge("schedule", "other", syscall(SYS_sched_setaffinity, atoi(other), 0, NULL));
  syscall(SYS_close, bounds);
}

int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long given[4];
  for (size_t index = 0; index < 4; index++) given[index] = va_arg(list, unsigned long);
  va_end(list);
  int result = (int)syscall(SYS_prctl, option, given[0], given[1], given[2], given[3]);
  const char *wanted = option == PR_SET_SECCOMP ? getenv("TENDER_BOUNDS") : NULL;
  if (wanted == NULL) return result;
  // Opened before the restrictions.
  if (bounds >= 0) try_bounds();
  return result;
}

__attribute__((constructor)) static void begin_bounds(void) {
  const char *wanted = getenv("TENDER_BOUNDS");
  if (wanted == NULL) return;
  int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
  bounds = (int)syscall(SYS_openat, AT_FDCWD, wanted, flags, 0600);
}

static ssize_t write_at(int descriptor, const void *bytes, size_t length, off_t position) {
  char path[512];
  if (is_ours(descriptor, path, sizeof path)) {
    // Of each page SQLite writes one byte, in its last block. The page that is mapped begins with another one.
    if (kind == SPARSE && length == 1 && grows(descriptor, position + 1))
      return syscall(SYS_ftruncate, descriptor, position + 1) == 0 ? 1 : -1;
    pthread_mutex_lock(&lock);
    int error = strikes(1, grows(descriptor, position + (off_t)length), "write", path);
    if (error == 0) remember(descriptor, path, length, position);
    pthread_mutex_unlock(&lock);
    if (error != 0) {
      errno = error;
      return -1;
    }
  }
  return syscall(SYS_pwrite64, descriptor, bytes, length, position);
}

static int status_of(int descriptor, struct stat *status) {
  int result = (int)syscall(SYS_fstat, descriptor, status);
  if (result == 0 && kind == SPARSE) status->st_blksize = 1024;
  return result;
}

int fstat(int descriptor, struct stat *status) { return status_of(descriptor, status); }

int fstat64(int descriptor, struct stat64 *status) { return status_of(descriptor, (struct stat *)status); }

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t position) {
  return write_at(descriptor, bytes, length, position);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t position) {
  return write_at(descriptor, bytes, length, position);
}

static int truncate_to(int descriptor, off_t size) {
  char path[512];
  if (is_ours(descriptor, path, sizeof path)) {
    pthread_mutex_lock(&lock);
    int error = strikes(1, 0, "truncate", path);
    struct stat status;
    if (error == 0 && fstat(descriptor, &status) == 0 && size < status.st_size) {
      remember(descriptor, path, (size_t)(status.st_size - size), size);
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) {
      errno = error;
      return -1;
    }
  }
  return (int)syscall(SYS_ftruncate, descriptor, size);
}

int ftruncate(int descriptor, off_t size) { return truncate_to(descriptor, size); }

int ftruncate64(int descriptor, off_t size) { return truncate_to(descriptor, size); }

static int allocate(int descriptor, off_t position, off_t length) {
  char path[512];
  if (is_ours(descriptor, path, sizeof path)) {
    pthread_mutex_lock(&lock);
    int error = strikes(1, grows(descriptor, position + length), "allocate", path);
    pthread_mutex_unlock(&lock);
    if (error != 0) return error;
  }
  return syscall(SYS_fallocate, descriptor, 0, position, length) == 0 ? 0 : errno;
}

int posix_fallocate(int descriptor, off_t position, off_t length) {
  return allocate(descriptor, position, length);
}

int posix_fallocate64(int descriptor, off_t position, off_t length) {
  return allocate(descriptor, position, length);
}

static int sync_file(int descriptor, long call) {
  try_everything();
  // Simulates a slower disk.
  const char *delay = getenv("TENDER_SYNC_MICROSECONDS");
  if (delay != NULL) {
    long wait = strtol(delay, NULL, 10);
    struct timespec time = {wait / 1000000, wait % 1000000 * 1000};
    syscall(SYS_nanosleep, &time, NULL);
  }
  char path[512];
  if (is_ours(descriptor, path, sizeof path)) {
    pthread_mutex_lock(&lock);
    int error = strikes(1, 0, "sync", path);
    if (error == 0) forget(descriptor);
    pthread_mutex_unlock(&lock);
    if (error != 0) {
      errno = error;
      return -1;
    }
  }
  return (int)syscall(call, descriptor);
}

int fsync(int descriptor) { return sync_file(descriptor, SYS_fsync); }

int fdatasync(int descriptor) { return sync_file(descriptor, SYS_fdatasync); }

ssize_t send(int descriptor, const void *bytes, size_t length, int flags) {
  if (kind != NOTHING) {
    pthread_mutex_lock(&lock);
    strikes(0, 0, "send", NULL);
    pthread_mutex_unlock(&lock);
  }
  return syscall(SYS_sendto, descriptor, bytes, length, flags, NULL, 0);
}

static int lock_call(int descriptor, int command, void *argument) {
  // F_SETLK is SQLite's. Locks on references are of another kind.
  if (is_busy && command == F_SETLK && argument != NULL
      && ((struct flock *)argument)->l_type == F_WRLCK) {
    char path[512];
    if (is_ours(descriptor, path, sizeof path)) {
      errno = EAGAIN;
      return -1;
    }
  }
  return (int)syscall(SYS_fcntl, descriptor, command, argument);
}

int fcntl(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return lock_call(descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return lock_call(descriptor, command, argument);
}

/// A wait for a lock that is never free is shortened.
int usleep(useconds_t time) {
  struct timespec wait = {0, is_busy ? 0 : (long)(time % 1000000) * 1000};
  if (!is_busy) wait.tv_sec = time / 1000000;
  return (int)syscall(SYS_nanosleep, &wait, NULL);
}

int nanosleep(const struct timespec *time, struct timespec *left) {
  struct timespec none = {0, 0};
  return (int)syscall(SYS_nanosleep, is_busy ? &none : time, left);
}
#endif
