#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
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

#ifdef __linux__
__attribute__((section(".tender_build")))
#endif
// Two empty lines. The linker could merge an empty constant with another one.
const char tender_build[160] = "\n\n";

const char *tender_system_build(void) { return tender_build; }

static char **arguments;

// glibc and macOS pass main's arguments to a constructor. Another C library may pass nothing.
#if defined(__GLIBC__) || defined(__APPLE__)
__attribute__((constructor)) static void keep_arguments(int count, char **given) {
  if (count > 0) arguments = given;
}
#endif

char **tender_system_arguments(void) { return arguments; }

/// Explains a SIGBUS. The instruction then runs again, and the signal ends the process.
static void explain_cut(int number) {
  (void)number;
  static const char text[] = "tender: a file of the state folder was shortened while it was open. No recorded step is lost. "
                             "The same command continues.\n";
  ssize_t written = write(2, text, sizeof text - 1);
  (void)written;
}

void tender_system_explain_cuts(void) {
  struct sigaction action = {.sa_handler = explain_cut, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGBUS, &action, NULL);
}

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

/// What this process changed for itself at its start. A command of the user's gets it back.
static struct {
  mode_t mask;
  struct rlimit core, files;
  char *key_log;
} inherited;

int tender_system_protect(void) {
  inherited.mask = umask(077);
  getrlimit(RLIMIT_CORE, &inherited.core);
  getrlimit(RLIMIT_NOFILE, &inherited.files);
  inherited.key_log = getenv("SSLKEYLOGFILE");
  unsetenv("SSLKEYLOGFILE");
  struct rlimit none = {0, inherited.core.rlim_max};
  setrlimit(RLIMIT_CORE, &none);
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

/// The length of the longest address.
enum { LONGEST = 8192 };

/// Removes every variable with a prefix from the environment, and erases its value.
static void clean_environment(const char *prefix) {
  size_t length = strlen(prefix);
  char **kept = environ;
  for (char **variable = environ; *variable; variable++) {
    if (strncmp(*variable, prefix, length) != 0) {
      *kept++ = *variable;
      continue;
    }
    // Other processes can read these bytes in this process's memory, so they are overwritten.
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
  // The opener's standard streams are /dev/null, so that its output does not reach ours.
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

/// Whether a text is a web address in ASCII without spaces. An opener gets nothing else.
static int is_web_address(const char *text) {
  if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
    return 0;
  for (; *text; text++)
    if (*text <= ' ' || *text > '~')
      return 0;
  return 1;
}

int tender_system_browser(const char *prefix, const char *opener) {
  int ends[2];
  // The helper ends when the parent's end of the socket closes. The signal at a parent's death does not come
  // from a parent restricted by Landlock's scopes. A datagram socket does not report the close.
#ifdef __APPLE__
  const int type = SOCK_DGRAM;
#else
  const int type = SOCK_SEQPACKET;
#endif
  if (socketpair(AF_UNIX, type, 0, ends) != 0)
    return -1;
  // In a container, this process may be number 1. So a change of the parent shows that the parent is gone.
  pid_t parent = getpid();
  pid_t helper = fork();
  if (helper != 0) {
    close(ends[1]);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    // A helper that has ended does not answer.
    struct timeval patience = {.tv_sec = 10};
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (helper > 0)
      return ends[0];
    close(ends[0]);
    return -1;
  }
#ifndef __APPLE__
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent)
    _exit(0);
#endif
  (void)parent;
  close_others(ends[1]);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  clean_environment(prefix);
  signal(SIGCHLD, SIG_IGN);
  // The parent is restricted, and the helper is not. So the parent passes an address, never a program.
  static char address[LONGEST + 2];
  for (;;) {
    ssize_t count = recv(ends[1], address, LONGEST + 1, 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      _exit(0);
    address[count] = 0;
    unsigned char status = count > LONGEST || strlen(address) != (size_t)count || !is_web_address(address)
                           || spawn(opener, address) != 0;
    if (send(ends[1], &status, 1, 0) != 1)
      _exit(0);
  }
}

int tender_system_open(int helper, const char *address) {
  size_t length = strlen(address);
  if (helper < 0 || length > LONGEST || !is_web_address(address)
      || send(helper, address, length, 0) != (ssize_t)length)
    return -1;
  unsigned char status = 1;
  ssize_t count;
  do
    count = recv(helper, &status, 1, 0);
  while (count < 0 && errno == EINTR);
  return count == 1 && status == 0 ? 0 : -1;
}

// Programs whose output is a secret.

static int64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int send_all(int descriptor, const void *bytes, size_t count) {
  for (const char *rest = bytes; count > 0;) {
    ssize_t sent = write(descriptor, rest, count);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return -1;
    rest += sent;
    count -= (size_t)sent;
  }
  return 0;
}

/// Starts a program in a new process group, without input. What it says beside its output is dropped. Returns its
/// process, or -1.
static pid_t start(char *const *arguments, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0 || posix_spawnattr_init(&attributes) != 0)
    return -1;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process;
  int status = posix_spawn(&process, arguments[0], &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return status == 0 ? process : -1;
}

/// Reads the waiting bytes of a pipe, up to a limit. Bytes above it are counted and dropped. Returns 0 at the
/// end, else 1.
static int read_some(int pipe, char *bytes, uint32_t *count, uint32_t limit) {
  char dropped[512];
  int isFull = *count >= limit;
  ssize_t got = read(pipe, isFull ? dropped : bytes + *count, isFull ? sizeof dropped : limit - *count);
  if (got > 0 && isFull)
    *count = limit + 1;
  else if (got > 0)
    *count += (uint32_t)got;
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/// The output of a program. It is erased after it was passed on.
static char printed[TENDER_PROGRAM_OUTPUT];

/// Runs one program until it ends, its deadline passes, or the asking process ends.
static void run_program(char *const *arguments, int asker) {
  struct tender_program_answer answer = {TENDER_PROGRAM_MISSING, 0};
  int output[2];
  if (pipe(output) != 0)
    _exit(1);
  for (int end = 0; end < 2; end++)
    fcntl(output[end], F_SETFD, FD_CLOEXEC);
  pid_t process = *arguments ? start(arguments, output[1]) : -1;
  close(output[1]);
  int64_t deadline = milliseconds() + TENDER_PROGRAM_TIME;
  int status = 0, isRunning = process > 0, isOpen = isRunning;
  while (isRunning || isOpen) {
    struct pollfd polled[] = {{asker, 0, 0}, {isOpen ? output[0] : -1, POLLIN, 0}};
    int64_t left = deadline - milliseconds();
    // poll does not report the end of a process.
    poll(polled, 2, left < 0 ? 0 : isOpen && left > 100 ? 100 : left > 5 ? 5 : (int)left);
    if (polled[0].revents & (POLLHUP | POLLERR)) {
      kill(-process, SIGKILL);
      _exit(0);
    }
    if (polled[1].revents)
      isOpen = read_some(output[0], printed, &answer.output, TENDER_PROGRAM_OUTPUT);
    if (isRunning && waitpid(process, &status, WNOHANG) == process)
      isRunning = 0;
    if ((isRunning || isOpen) && milliseconds() >= deadline) {
      kill(-process, SIGKILL);
      if (isRunning)
        waitpid(process, &status, 0);
      answer.status = TENDER_PROGRAM_LATE;
      break;
    }
    if (!isRunning && !isOpen)
      answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  close(output[0]);
  if (answer.output > TENDER_PROGRAM_OUTPUT && answer.status == 0)
    answer.status = TENDER_PROGRAM_LONG;
  if (answer.status == TENDER_PROGRAM_LONG || answer.output > TENDER_PROGRAM_OUTPUT)
    answer.output = 0;
  int isLost = send_all(asker, &answer, sizeof answer) != 0 || send_all(asker, printed, answer.output) != 0;
  for (volatile char *byte = printed; byte < printed + sizeof printed; byte++)
    *byte = 0;
  if (isLost)
    _exit(0);
}

int tender_system_programs(const char *prefix, char *const *arguments, size_t count) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return -1;
  pid_t helper = fork();
  if (helper != 0) {
    close(ends[1]);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    if (helper > 0)
      return ends[0];
    close(ends[0]);
    return -1;
  }
  close_others(ends[1]);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  clean_environment(prefix);
  // A signal for this process alone would leave the program running. When the parent's end of the socket
  // closes, both end.
  const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE};
  for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++)
    signal(ignored[index], SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  for (;;) {
    uint32_t number;
    ssize_t got = read(ends[1], &number, sizeof number);
    if (got < 0 && errno == EINTR)
      continue;
    if (got != sizeof number || number >= count)
      _exit(0);
    char *const *list = arguments;
    for (; number > 0; number--)
      while (*list++) {
      }
    run_program(list, ends[1]);
  }
}

// A command of the user's.

/// The time between SIGTERM and SIGKILL, in milliseconds.
enum { GRACE = 10000 };

static void ignore_number(int number) { (void)number; }

/// Reads exactly `count` bytes. Returns 0 at an earlier end.
static int receive_all(int descriptor, void *bytes, size_t count) {
  for (char *rest = bytes; count > 0;) {
    ssize_t got = read(descriptor, rest, count);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return 0;
    rest += got;
    count -= (size_t)got;
  }
  return 1;
}

/// Starts the command in a new process group, with what this process inherited. Returns its process, or -1 with the
/// problem.
static pid_t start_command(char *const *arguments, int terminal, int takes_terminal, int32_t *problem) {
  int ends[2];
  if (pipe(ends) != 0) {
    *problem = errno;
    return -1;
  }
  for (int end = 0; end < 2; end++)
    fcntl(ends[end], F_SETFD, FD_CLOEXEC);
  pid_t command = fork();
  if (command == 0) {
    setpgid(0, 0);
    // SIGTTOU is still ignored here.
    if (takes_terminal)
      tcsetpgrp(terminal, getpid());
    umask(inherited.mask);
    setrlimit(RLIMIT_CORE, &inherited.core);
    setrlimit(RLIMIT_NOFILE, &inherited.files);
    if (inherited.key_log)
      setenv("SSLKEYLOGFILE", inherited.key_log, 1);
    for (int number = 1; number < NSIG; number++)
      signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
#ifndef __APPLE__
    // A helper that is killed cannot end it.
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
#endif
    execvp(arguments[0], arguments);
    int32_t failure = errno;
    send_all(ends[1], &failure, sizeof failure);
    _exit(127);
  }
  close(ends[1]);
  *problem = command < 0 ? errno : 0;
  if (command > 0) {
    // It does the same itself. Whichever comes first counts.
    setpgid(command, command);
    if (receive_all(ends[0], problem, sizeof *problem)) {
      waitpid(command, NULL, 0);
      command = -1;
    }
  }
  close(ends[0]);
  return command;
}

/// The command was stopped: by the user, or because it used the terminal in the background.
static void suspend(pid_t command, int number, int terminal) {
  if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU)
    return;
  if (number != SIGTSTP && tcgetpgrp(terminal) == getpgrp()) {
    tcsetpgrp(terminal, command);
  } else {
    int had_terminal = tcgetpgrp(terminal) == command;
    if (had_terminal)
      tcsetpgrp(terminal, getpgrp());
    // The shell gets its prompt back. This process goes on after the shell's fg or bg.
    signal(number, SIG_DFL);
    kill(0, number);
    // Without a shell nothing stops here, and the command would be stopped again and again.
    poll(NULL, 0, 100);
    signal(number, number == SIGTSTP ? SIG_DFL : SIG_IGN);
    if (had_terminal && tcgetpgrp(terminal) == getpgrp())
      tcsetpgrp(terminal, command);
  }
  kill(-command, SIGCONT);
}

/// Waits for the end of a command and of its process group. Returns its exit status.
static int32_t watch(pid_t command, int asker, int terminal) {
  int32_t status = 0;
  int is_running = 1, is_asked = 1, is_killed = 0;
  int64_t deadline = INT64_MAX;
  // SIGCHLD is blocked, except in the wait.
  sigset_t none;
  sigemptyset(&none);
  for (;;) {
    siginfo_t child = {0};
    while (waitid(P_ALL, 0, &child, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0 && child.si_pid) {
      int found = 0, is_end = child.si_pid == command && child.si_code != CLD_STOPPED;
      if (is_end) {
        // No other process has its number before waitpid.
        kill(-command, SIGTERM);
        kill(-command, SIGCONT);
      }
      waitpid(child.si_pid, &found, WUNTRACED);
      if (is_end) {
        status = WIFEXITED(found) ? WEXITSTATUS(found) : 128 + WTERMSIG(found);
        is_running = 0;
        deadline = milliseconds() + GRACE;
        if (tcgetpgrp(terminal) == command)
          tcsetpgrp(terminal, getpgrp());
      } else if (child.si_pid == command) {
        suspend(command, WSTOPSIG(found), terminal);
      }
      child.si_pid = 0;
    }
    if (!is_running && kill(-command, 0) != 0 && errno == ESRCH)
      return status;
    int64_t left = deadline - milliseconds();
    if (left <= 0) {
      if (is_killed)
        return status;
      kill(-command, SIGKILL);
      is_killed = 1;
      deadline += GRACE;
      continue;
    }
    // The rest of the group may be the children of other processes, whose end no signal tells.
    if (!is_running)
      left = 10;
    struct timespec limit = {left / 1000, left % 1000 * 1000000};
    fd_set set;
    FD_ZERO(&set);
    if (is_asked)
      FD_SET(asker, &set);
    if (pselect(asker + 1, &set, NULL, NULL, deadline == INT64_MAX ? NULL : &limit, &none) <= 0)
      continue;
    unsigned char number;
    // Without its asker, the command has no server any more.
    if (read(asker, &number, 1) != 1)
      is_asked = 0, number = SIGTERM;
    if (!is_running)
      continue;
    // A terminal sends these two to a whole group.
    kill(number == SIGINT || number == SIGQUIT ? -command : command, number);
    kill(-command, SIGCONT);
    if (number != SIGINT && deadline == INT64_MAX)
      deadline = milliseconds() + GRACE;
  }
}

static int discard(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  remove(path);
  return 0;
}

/// Runs the command for the process at the other end of a socket.
static void serve_command(char *const *arguments, int asker) {
  uint32_t size;
  char *variables;
  if (!receive_all(asker, &size, sizeof size) || !(variables = malloc(size + 1))
      || !receive_all(asker, variables, size))
    return;
  variables[size] = 0;
  for (char *variable = variables; variable < variables + size; variable += strlen(variable) + 1)
    putenv(variable);
  int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  int takes_terminal = isatty(0) && isatty(1) && tcgetpgrp(terminal) == getpgrp();
  struct tender_command_end end = {0, 0};
  pid_t command = start_command(arguments, terminal, takes_terminal, &end.problem);
  if (command > 0)
    end.status = watch(command, asker, terminal);
  else if (takes_terminal)
    tcsetpgrp(terminal, getpgrp());
  send_all(asker, &end, sizeof end);
  // The asker still reads the files of the folder.
  while (receive_all(asker, &size, 1)) {
  }
}

int tender_system_command(char *const *arguments, const char *folder) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return -1;
  for (int end = 0; end < 2; end++)
    fcntl(ends[end], F_SETFD, FD_CLOEXEC);
  pid_t helper = fork();
  if (helper != 0) {
    close(ends[1]);
    if (helper > 0)
      return ends[0];
    close(ends[0]);
    return -1;
  }
  close(ends[0]);
#ifndef __APPLE__
  // Children of the command whose parent ended become children of this process, so that none is left as a zombie.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
  // A signal for the whole group reaches the asker, which passes it on.
  const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTTIN, SIGTTOU};
  for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++)
    signal(ignored[index], SIG_IGN);
  signal(SIGCHLD, ignore_number);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_SETMASK, &child, NULL);
  serve_command(arguments, ends[1]);
  nftw(folder, discard, 16, FTW_DEPTH | FTW_PHYS);
  _exit(0);
}

// Bounds.

#ifdef __APPLE__

int tender_system_landlock(void) { return 0; }

int tender_system_contain(const struct tender_bounds *bounds) {
  (void)bounds;
  return 0;
}

#else

/// Landlock, as in the kernel's documentation (userspace-api/landlock). Headers of older systems lack the
/// later parts.
struct ruleset {
  uint64_t files;
  uint64_t ports;
  uint64_t scopes;
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
  REMOVE_FILE = 1 << 5,
  MAKE_DIR = 1 << 7,
  MAKE_REG = 1 << 8,
  LAST_OF_FIRST = 1 << 12,
  REFER = 1 << 13,
  TRUNCATE = 1 << 14,
  IOCTL_DEV = 1 << 15,
};
enum { BIND_TCP = 1, CONNECT_TCP = 2 };
enum { SCOPE_ABSTRACT = 1, SCOPE_SIGNAL = 2 };

/// Allows the paths of a list, with the rights that the kernel supports (`all`).
static void allow(int ruleset, struct tender_texts paths, uint64_t rights, uint64_t all) {
  for (size_t index = 0; index < paths.count; index++) {
    struct beneath rule = {rights & all, open(paths.texts[index], O_PATH | O_CLOEXEC)};
    if (rule.parent < 0)
      continue;
    if (syscall(CALL_ADD, ruleset, RULE_BENEATH, &rule, 0) != 0 && errno == EINVAL) {
      // It is not a folder, so rights of folders do not apply.
      rule.allowed &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
      syscall(CALL_ADD, ruleset, RULE_BENEATH, &rule, 0);
    }
    close(rule.parent);
  }
}

static void allow_ports(int ruleset, struct tender_ports ports, uint64_t right) {
  for (size_t index = 0; index < ports.count; index++) {
    struct port rule = {right, ports.numbers[index]};
    syscall(CALL_ADD, ruleset, RULE_PORT, &rule, 0);
  }
}

int tender_system_landlock(void) {
  long version = syscall(CALL_CREATE, NULL, 0, VERSION_FLAG);
  return version < 0 ? 0 : (int)version;
}

#define REFUSED_FILES(problem) ((problem) << 8)
#define REFUSED_CALLS(problem) ((problem) << 16)

static int bound_files(const struct tender_bounds *bounds) {
  int version = tender_system_landlock();
  if (version < 1)
    return REFUSED_FILES(errno);
  uint64_t all = (LAST_OF_FIRST << 1) - 1;
  if (version >= 2)
    all |= REFER;
  if (version >= 3)
    all |= TRUNCATE;
  if (version >= 5)
    all |= IOCTL_DEV;
  struct ruleset wanted = {all, 0, 0};
  size_t size = sizeof wanted.files;
  if (version >= 4) {
    wanted.ports = BIND_TCP | CONNECT_TCP;
    size += sizeof wanted.ports;
  }
  if (version >= 6) {
    wanted.scopes = SCOPE_SIGNAL | (bounds->sockets & TENDER_SOCKETS_ABSTRACT ? 0 : SCOPE_ABSTRACT);
    size += sizeof wanted.scopes;
  }
  int ruleset = (int)syscall(CALL_CREATE, &wanted, size, 0);
  if (ruleset < 0)
    return REFUSED_FILES(errno);
  uint64_t reads = READ_FILE | READ_DIR, writes = reads | WRITE_FILE | TRUNCATE;
  allow(ruleset, bounds->readable, reads, all);
  allow(ruleset, bounds->writable, writes | MAKE_REG | MAKE_DIR | REMOVE_FILE, all);
  allow(ruleset, bounds->devices, READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV, all);
  if (wanted.ports) {
    allow_ports(ruleset, bounds->connects, CONNECT_TCP);
    allow_ports(ruleset, bounds->listens, BIND_TCP);
  }
  int problem = syscall(CALL_RESTRICT, ruleset, 0) == 0 ? 0 : errno;
  close(ruleset);
  if (problem)
    return REFUSED_FILES(problem);
  return TENDER_BOUND_FILES | (wanted.ports ? TENDER_BOUND_PORTS : 0);
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

// Calls that are newer than some headers. Their numbers are the same on all architectures.
enum {
  CALL_PIDFD_SEND_SIGNAL = 424, CALL_RING_SETUP = 425, CALL_RING_ENTER = 426, CALL_RING_REGISTER = 427,
  CALL_OPEN_TREE = 428, CALL_MOVE_MOUNT = 429, CALL_FSOPEN = 430, CALL_FSMOUNT = 432, CALL_FSPICK = 433,
  CALL_PIDFD_OPEN = 434, CALL_CLONE3 = 435, CALL_PIDFD_GETFD = 438, CALL_PROCESS_MADVISE = 440,
  CALL_MOUNT_SETATTR = 442, CALL_PROCESS_MRELEASE = 448, CALL_FCHMODAT2 = 452, CALL_SETXATTRAT = 463,
  CALL_REMOVEXATTRAT = 466, CALL_FILE_SETATTR = 469,
};

/// A filter of the kernel (seccomp(2)). A call that one part does not decide goes to the next part.
///
/// Its parts are in blocks by the numbers of calls. For each process, the kernel runs the filter once for every
/// number.
struct filter {
  struct sock_filter code[512];
  unsigned short size;
  /// The calls of the current block: from one number up to another.
  uint32_t from, to;
};

static int is_here(const struct filter *filter, uint32_t call) {
  return call >= filter->from && call < filter->to;
}

static void add(struct filter *filter, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
  filter->code[filter->size++] = (struct sock_filter){code, if_true, if_false, value};
}

static void answer(struct filter *filter, uint32_t action) {
  add(filter, BPF_RET | BPF_K, action, 0, 0);
}

enum { REFUSE = SECCOMP_RET_ERRNO | EPERM, ALLOW = SECCOMP_RET_ALLOW };

static void load(struct filter *filter, size_t offset) {
  add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/// Loads the lower half of an argument. The kernel uses only that half of the arguments that matter here.
static void load_argument(struct filter *filter, size_t number) {
  load(filter, offsetof(struct seccomp_data, args) + 8 * number);
}

/// Answers the call if the loaded value differs.
static void answer_if(struct filter *filter, uint32_t value, uint32_t action) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
  answer(filter, action);
}

static void refuse_bits(struct filter *filter, uint32_t bits) {
  add(filter, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
  answer(filter, REFUSE);
}

/// Starts a part that decides one call. Returns the start of the part.
static unsigned short begin_part(struct filter *filter, uint32_t call) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
  return filter->size;
}

static void end_part(struct filter *filter, unsigned short start, uint32_t action) {
  answer(filter, action);
  filter->code[start - 1].jf = (uint8_t)(filter->size - start);
}

static void answer_call(struct filter *filter, uint32_t call, uint32_t action) {
  if (is_here(filter, call))
    answer_if(filter, call, action);
}

/// Refuses a call if some bits of an argument are set.
static void refuse_flags(struct filter *filter, uint32_t call, size_t argument, uint32_t bits) {
  if (!is_here(filter, call))
    return;
  unsigned short part = begin_part(filter, call);
  load_argument(filter, argument);
  refuse_bits(filter, bits);
  end_part(filter, part, ALLOW);
}

/// Refuses a call if an argument has one of some values.
static void refuse_values(struct filter *filter, uint32_t call, size_t argument, const uint32_t *values,
                          size_t count) {
  if (!is_here(filter, call))
    return;
  unsigned short part = begin_part(filter, call);
  load_argument(filter, argument);
  for (size_t index = 0; index < count; index++)
    answer_if(filter, values[index], REFUSE);
  end_part(filter, part, ALLOW);
}

/// Allows a call that names a process only for this process.
static void allow_own(struct filter *filter, uint32_t call, int none_is_own) {
  if (!is_here(filter, call))
    return;
  unsigned short part = begin_part(filter, call);
  load_argument(filter, 0);
  answer_if(filter, (uint32_t)getpid(), ALLOW);
  if (none_is_own)
    answer_if(filter, 0, ALLOW);
  end_part(filter, part, REFUSE);
}

/// A kind of socket: its family, type and protocol.
struct kind {
  int needs;
  uint32_t family, type, protocol;
};

static const struct kind kinds[] = {
    {TENDER_SOCKETS_TCP, AF_INET, SOCK_STREAM, 0},   {TENDER_SOCKETS_TCP, AF_INET, SOCK_STREAM, 6},
    {TENDER_SOCKETS_TCP, AF_INET6, SOCK_STREAM, 0},  {TENDER_SOCKETS_TCP, AF_INET6, SOCK_STREAM, 6},
    {TENDER_SOCKETS_NAMES, AF_INET, SOCK_DGRAM, 0},  {TENDER_SOCKETS_NAMES, AF_INET, SOCK_DGRAM, 17},
    {TENDER_SOCKETS_NAMES, AF_INET6, SOCK_DGRAM, 0}, {TENDER_SOCKETS_NAMES, AF_INET6, SOCK_DGRAM, 17},
    {TENDER_SOCKETS_LOCAL, AF_UNIX, SOCK_STREAM, 0},
    // RFCOMM.
    {TENDER_SOCKETS_BLUETOOTH, 31, SOCK_STREAM, 3},
};

static void allow_sockets(struct filter *filter, int sockets) {
  if (!is_here(filter, SYS_socket))
    return;
  unsigned short part = begin_part(filter, SYS_socket);
  for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
    const struct kind *kind = kinds + index;
    if (!(sockets & kind->needs))
      continue;
    load_argument(filter, 0);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, kind->family, 0, 6);
    load_argument(filter, 1);
    // Without SOCK_CLOEXEC and SOCK_NONBLOCK.
    add(filter, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, kind->type, 0, 3);
    load_argument(filter, 2);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, kind->protocol, 0, 1);
    answer(filter, ALLOW);
  }
  end_part(filter, part, REFUSE);
}

/// Allows only pairs of stream sockets. An end of another pair can send to any Unix socket by its path.
static void allow_pairs(struct filter *filter) {
  if (!is_here(filter, SYS_socketpair))
    return;
  unsigned short part = begin_part(filter, SYS_socketpair);
  load_argument(filter, 1);
  // Without SOCK_CLOEXEC and SOCK_NONBLOCK.
  add(filter, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
  answer_if(filter, SOCK_STREAM, ALLOW);
  end_part(filter, part, REFUSE);
}

/// Allows ioctl(2) requests of terminals and sockets. Those of file systems change attributes, and are
/// refused.
///
/// Also refused are typing into a terminal (TIOCSTI, TIOCLINUX) and signals for events of a descriptor
/// (FIOSETOWN, SIOCSPGRP).
static void allow_requests(struct filter *filter) {
  if (!is_here(filter, SYS_ioctl))
    return;
  unsigned short part = begin_part(filter, SYS_ioctl);
  load_argument(filter, 1);
  static const uint32_t refused[] = {0x5412, 0x541c, 0x8901, 0x8902};
  for (size_t index = 0; index < sizeof refused / sizeof *refused; index++)
    answer_if(filter, refused[index], REFUSE);
  // The type of a request is its second byte: 'T' for terminals, 0x89 for sockets.
  add(filter, BPF_ALU | BPF_AND | BPF_K, 0xff00, 0, 0);
  answer_if(filter, 0x5400, ALLOW);
  answer_if(filter, 0x8900, ALLOW);
  end_part(filter, part, REFUSE);
}

/// Calls that no command needs. They start programs, reach other processes, change attributes of files, share
/// memory or messages, or enter namespaces. Others set the clock or the state of the machine, read the
/// kernel's log, watch the files of others, or get around this filter and Landlock.
static const uint32_t forbidden[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_kexec_load,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_open_by_handle_at, SYS_fchmod, SYS_fchmodat,
    SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr, SYS_tkill, SYS_rt_sigqueueinfo, SYS_shmget, SYS_shmat, SYS_shmctl,
    SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
    SYS_mq_open, SYS_mq_unlink, SYS_io_setup, SYS_setpriority, SYS_ioprio_set, SYS_sched_setparam,
    SYS_sched_setscheduler, SYS_sched_setaffinity, SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages,
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_reboot, SYS_sethostname,
    SYS_setdomainname, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_syslog, SYS_fanotify_init,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    CALL_PIDFD_SEND_SIGNAL, CALL_PIDFD_OPEN, CALL_PIDFD_GETFD, CALL_RING_SETUP, CALL_RING_ENTER,
    CALL_RING_REGISTER, CALL_OPEN_TREE, CALL_MOVE_MOUNT, CALL_FSOPEN, CALL_FSMOUNT, CALL_FSPICK,
    CALL_PROCESS_MADVISE, CALL_MOUNT_SETATTR, CALL_PROCESS_MRELEASE, CALL_FCHMODAT2, CALL_SETXATTRAT,
    CALL_REMOVEXATTRAT, CALL_FILE_SETATTR,
};

/// Decides the calls of one block.
static void add_rules(struct filter *filter, const struct tender_bounds *bounds) {
  for (size_t index = 0; index < sizeof forbidden / sizeof *forbidden; index++)
    answer_call(filter, forbidden[index], REFUSE);
  // Its flags are in memory, where a filter cannot look. The C library falls back to the older call.
  answer_call(filter, CALL_CLONE3, SECCOMP_RET_ERRNO | ENOSYS);
  // A new process or thread is allowed, but not with a new namespace (CLONE_NEW…).
  refuse_flags(filter, SYS_clone, 0, 0x7e020000);
  allow_own(filter, SYS_kill, 0);
  allow_own(filter, SYS_tgkill, 0);
  allow_own(filter, SYS_rt_tgsigqueueinfo, 0);
  allow_own(filter, SYS_prlimit64, 1);
  allow_requests(filter);
  // Signals for events of a descriptor: F_SETOWN, F_SETSIG and F_SETOWN_EX.
  static const uint32_t owners[] = {8, 10, 15};
  refuse_values(filter, SYS_fcntl, 1, owners, sizeof owners / sizeof *owners);
  // Data in the first packet (MSG_FASTOPEN) would connect without Landlock's check.
  refuse_flags(filter, SYS_sendto, 3, 0x20000000);
  refuse_flags(filter, SYS_sendmsg, 2, 0x20000000);
  refuse_flags(filter, SYS_sendmmsg, 3, 0x20000000);
  allow_sockets(filter, bounds->sockets);
  allow_pairs(filter);
  // Landlock checks only the port that a TCP socket is bound to. Without a port to listen at, neither call is
  // needed.
  if (bounds->listens.count == 0) {
    answer_call(filter, SYS_bind, REFUSE);
    answer_call(filter, SYS_listen, REFUSE);
  }
}

/// Restricts programs, sockets and other processes. Returns whether the kernel accepted the filter.
static int bound_calls(const struct tender_bounds *bounds) {
  static struct filter filter;
  filter.size = 0;
  load(&filter, offsetof(struct seccomp_data, arch));
  // Calls of another architecture have other numbers.
  add(&filter, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  answer(&filter, REFUSE);
  load(&filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  // x32.
  add(&filter, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(&filter, REFUSE);
#endif
  static const uint32_t blocks[] = {0, 40, 64, 96, 144, 192, 256, 320, 424, 0x40000000};
  for (size_t block = 0; block + 1 < sizeof blocks / sizeof *blocks; block++) {
    filter.from = blocks[block];
    filter.to = blocks[block + 1];
    add(&filter, BPF_JMP | BPF_JGE | BPF_K, filter.to, 0, 0);
    unsigned short start = filter.size;
    add_rules(&filter, bounds);
    answer(&filter, ALLOW);
    if (filter.size - start > UINT8_MAX)
      return 0;
    filter.code[start - 1].jt = (uint8_t)(filter.size - start);
  }
  answer(&filter, REFUSE);
  struct sock_fprog program = {filter.size, filter.code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? TENDER_BOUND_CALLS : REFUSED_CALLS(errno);
}

#else

static int bound_calls(const struct tender_bounds *bounds) {
  (void)bounds;
  return 0;
}

#endif

int tender_system_contain(const struct tender_bounds *bounds) {
  // Landlock and seccomp need this. With it, a started program cannot gain rights.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return 0;
  int bound = bound_files(bounds);
  return bound | bound_calls(bounds);
}

#endif
