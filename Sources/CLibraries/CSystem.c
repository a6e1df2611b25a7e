#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __APPLE__
#include <sys/ptrace.h>
#else
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

extern char **environ;

static char **arguments;

// glibc and macOS give a constructor what main gets; another C library may give it nothing.
#if defined(__GLIBC__) || defined(__APPLE__)
__attribute__((constructor)) static void keep_arguments(int count, char **given) {
  if (count > 0) arguments = given;
}
#endif

char **tender_system_arguments(void) { return arguments; }

int tender_system_is_version(const char *found, const char *lowest) {
  if (!found)
    return 0;
  while (*lowest) {
    char *rest;
    long wanted = strtol(lowest, &rest, 10);
    lowest = *rest == '.' ? rest + 1 : rest;
    long given = strtol(found, &rest, 10);
    if (rest == found)
      return wanted == 0 && *lowest == 0;
    found = *rest == '.' ? rest + 1 : rest;
    if (given != wanted)
      return given > wanted;
  }
  return 1;
}

int tender_system_hide_memory(void) {
#ifdef __APPLE__
  return ptrace(PT_DENY_ATTACH, 0, 0, 0);
#else
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

int64_t tender_system_birth(const char *path) {
  const int64_t second = 1000000000;
#ifdef __APPLE__
  struct stat found;
  if (lstat(path, &found) != 0)
    return -1;
  return (int64_t)found.st_birthtimespec.tv_sec * second + found.st_birthtimespec.tv_nsec;
#else
  struct statx found;
  if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &found) != 0)
    return -1;
  if (!(found.stx_mask & STATX_BTIME))
    return -1;
  return (int64_t)found.stx_btime.tv_sec * second + found.stx_btime.tv_nsec;
#endif
}

// A browser.

/// The longest message: an opener, a zero byte, an address, a zero byte.
enum { LONGEST = 4096 + 8192 + 2 };

/// Takes every variable out of the environment that begins with a prefix, values first.
static void clean_environment(const char *prefix) {
  size_t length = strlen(prefix);
  char **kept = environ;
  for (char **variable = environ; *variable; variable++) {
    if (strncmp(*variable, prefix, length) != 0) {
      *kept++ = *variable;
      continue;
    }
    // They are in memory that others can read of a process; what is forgotten must not stay there.
    for (volatile char *letter = *variable; *letter; letter++)
      *letter = 0;
  }
  *kept = NULL;
}

static void close_others(int kept) {
  long limit = sysconf(_SC_OPEN_MAX);
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3, kept - 1, 0) == 0 || kept == 3)
    if (syscall(SYS_close_range, kept + 1, ~0U, 0) == 0)
      return;
#endif
  if (limit < 0 || limit > 65536)
    limit = 65536;
  for (int descriptor = 3; descriptor < limit; descriptor++)
    if (descriptor != kept)
      close(descriptor);
}

static int spawn(const char *opener, const char *address) {
  // What the opener says belongs to nobody here: its descriptors lead nowhere.
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return -1;
  for (int descriptor = 0; descriptor < 3; descriptor++)
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null",
                                     descriptor == 0 ? O_RDONLY : O_WRONLY, 0);
  char *arguments[] = {(char *)opener, (char *)address, NULL};
  pid_t process;
  int status = posix_spawnp(&process, opener, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

int tender_system_browser(const char *prefix) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
    return -1;
  // In a container this process may be number 1: another parent is what tells that it is gone.
  pid_t parent = getpid();
  pid_t helper = fork();
  if (helper != 0) {
    close(ends[1]);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    if (helper > 0)
      return ends[0];
    close(ends[0]);
    return -1;
  }
#ifndef __APPLE__
  // A datagram socket does not tell that the other side is gone.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent)
    _exit(0);
#endif
  (void)parent;
  close_others(ends[1]);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  clean_environment(prefix);
  signal(SIGCHLD, SIG_IGN);
  static char message[LONGEST + 1];
  for (;;) {
    ssize_t count = recv(ends[1], message, LONGEST, 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      _exit(0);
    message[count] = 0;
    const char *address = message + strlen(message) + 1;
    unsigned char status = address > message + count || spawn(message, address) != 0;
    if (send(ends[1], &status, 1, 0) != 1)
      _exit(0);
  }
}

int tender_system_open(int helper, const char *opener, const char *address) {
  char message[LONGEST];
  size_t first = strlen(opener) + 1, second = strlen(address) + 1;
  if (helper < 0 || first > 4097 || second > 8193)
    return -1;
  memcpy(message, opener, first);
  memcpy(message + first, address, second);
  unsigned char status = 1;
  if (send(helper, message, first + second, 0) != (ssize_t)(first + second))
    return -1;
  ssize_t count;
  do
    count = recv(helper, &status, 1, 0);
  while (count < 0 && errno == EINTR);
  return count == 1 && status == 0 ? 0 : -1;
}

// Bounds.

#ifdef __APPLE__

int tender_system_landlock(void) { return 0; }

int tender_system_contain(const struct tender_bounds *bounds) {
  (void)bounds;
  return 0;
}

#else

/// Landlock as the kernel's documentation has it (userspace-api/landlock); headers of older systems
/// lack the later parts.
struct ruleset {
  uint64_t files;
  uint64_t ports;
};
struct beneath {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));
struct port {
  uint64_t allowed;
  uint64_t port;
};
enum { RULE_BENEATH = 1, RULE_PORT = 2, VERSION_FLAG = 1 };
enum { CALL_CREATE = 444, CALL_ADD = 445, CALL_RESTRICT = 446 };
enum {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIR = 1 << 3,
  LAST_OF_FIRST = 1 << 12,
  REFER = 1 << 13,
  TRUNCATE = 1 << 14,
};
enum { BIND_TCP = 1, CONNECT_TCP = 2 };

static void allow(int ruleset, const char *path, uint64_t rights) {
  struct beneath rule = {rights, open(path, O_PATH | O_CLOEXEC)};
  if (rule.parent < 0)
    return;
  if (syscall(CALL_ADD, ruleset, RULE_BENEATH, &rule, 0) != 0 && errno == EINVAL) {
    // It is no folder, and takes no rights of folders.
    rule.allowed &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
    syscall(CALL_ADD, ruleset, RULE_BENEATH, &rule, 0);
  }
  close(rule.parent);
}

int tender_system_landlock(void) {
  long version = syscall(CALL_CREATE, NULL, 0, VERSION_FLAG);
  return version < 0 ? 0 : (int)version;
}

static int bound_files(const struct tender_bounds *bounds) {
  int version = tender_system_landlock();
  if (version < 1)
    return 0;
  uint64_t all = (LAST_OF_FIRST << 1) - 1;
  if (version >= 2)
    all |= REFER;
  if (version >= 3)
    all |= TRUNCATE;
  struct ruleset wanted = {all, 0};
  if (version >= 4 && bounds->limits_ports)
    wanted.ports = BIND_TCP | CONNECT_TCP;
  int ruleset = (int)syscall(CALL_CREATE, &wanted, version >= 4 ? sizeof wanted : 8, 0);
  if (ruleset < 0)
    return 0;
  for (size_t index = 0; index < bounds->readable_count; index++)
    allow(ruleset, bounds->readable[index], READ_FILE | READ_DIR);
  for (size_t index = 0; index < bounds->writable_count; index++)
    allow(ruleset, bounds->writable[index], all & ~(uint64_t)EXECUTE);
  for (size_t index = 0; wanted.ports && index < bounds->port_count; index++) {
    struct port rule = {wanted.ports, bounds->ports[index]};
    syscall(CALL_ADD, ruleset, RULE_PORT, &rule, 0);
  }
  int is_bound = syscall(CALL_RESTRICT, ruleset, 0) == 0;
  close(ruleset);
  if (!is_bound)
    return 0;
  return TENDER_BOUND_FILES | (wanted.ports ? TENDER_BOUND_PORTS : 0);
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/// Whether programs and other processes are out of reach.
static int bound_calls(void) {
#ifdef ARCHITECTURE
  static const int forbidden[] = {
      SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
      SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
      SYS_mount, SYS_umount2, SYS_pivot_root, SYS_setns, SYS_unshare, SYS_kexec_load,
      SYS_init_module, SYS_finit_module, SYS_open_by_handle_at,
  };
  enum { COUNT = sizeof forbidden / sizeof *forbidden };
  struct sock_filter filter[COUNT + 8];
  size_t size = 0;
  filter[size++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                offsetof(struct seccomp_data, arch));
  // Calls in the manner of another architecture have other numbers.
  filter[size++] =
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  filter[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  filter[size++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  // x32.
  filter[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, COUNT + 1, 0);
#endif
  for (size_t index = 0; index < COUNT; index++)
    filter[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)forbidden[index],
                                                  (uint8_t)(COUNT - index), 0);
  filter[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  struct sock_fprog program = {(unsigned short)size, filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? TENDER_BOUND_CALLS : 0;
#else
  return 0;
#endif
}

int tender_system_contain(const struct tender_bounds *bounds) {
  // Without it neither is allowed; with it no program that is started can gain rights.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return 0;
  return bound_files(bounds) | bound_calls();
}

#endif
