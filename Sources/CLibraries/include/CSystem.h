// System calls for a process that handles money, which Swift cannot call itself.
#ifndef TENDER_CSYSTEM_H
#define TENDER_CSYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// From now on, the end by a SIGBUS is explained on standard error. SQLite maps the index of its log, and reading a
/// part that another process cut off is a SIGBUS.
void tender_system_explain_cuts(void);

/// Whether a version is at least another one. Versions are numbers with points between them. Text after a
/// number is ignored.
int tender_system_is_version(const char *found, const char *lowest);

/// Returns the name and version of an opened library; number 0 is the one opened last. NULL after the first one.
const char *tender_library_opened(size_t number);

/// Returns two lines: the commit of this build, and its compiler. Both are empty until
/// Tests/Packaging/stamp.sh fills them in.
const char *tender_system_build(void);

/// The arguments from the loader; NULL if it passed none. A preloaded library that changes the environment
/// hides them from Swift. A command without its arguments would do nothing, and exit with 0.
char **tender_system_arguments(void);

/// Makes new files private to their owner. Protects this process's memory from other processes of the same user: no
/// debugger, no core dump, and no file with the keys of its connections. Call it first, since a command of the user's
/// gets back what this changes. Returns 0 if the system hides the memory.
int tender_system_protect(void);

/// The time when a file was created, in nanoseconds since 1970. A copy has a different time, and on Linux no
/// program can set it (statx(2), `stx_btime`). -1 without a file, or if the file system stores no such time.
int64_t tender_system_birth(const char *path);

/// Starts a helper that opens addresses by one program, `opener`. Call it before this process has threads,
/// secrets or restrictions, since a browser's sandbox needs calls that those forbid. The helper's environment
/// has no variable that begins with `prefix`, and it holds none of this process's descriptors.
///
/// Returns the descriptor of its socket, or -1.
int tender_system_browser(const char *prefix, const char *opener);
/// Lets the helper open an http or https address of at most 8192 bytes of ASCII. Returns 0 if the program was
/// started.
int tender_system_open(int helper, const char *address);

/// Starts a helper that runs programs and reads their output. Call it before this process has threads or
/// restrictions. `arguments` has the argument lists of `count` programs, each with NULL after it. The first
/// argument is a path, which is started without a shell. The helper runs no other program. When the
/// descriptor is closed, it ends, with the group of processes that it started. Its environment is that of the
/// helper for a browser.
///
/// Returns the descriptor of its socket, or -1.
int tender_system_programs(const char *prefix, char *const *arguments, size_t count);

/// The end of a program. Its output follows, with this number of bytes.
struct tender_program_answer {
  /// Its exit status, 128 plus the signal that ended it, or one of the values below.
  int32_t status;
  uint32_t output;
};
enum { TENDER_PROGRAM_MISSING = -1, TENDER_PROGRAM_LATE = -2, TENDER_PROGRAM_LONG = -3 };
/// The largest number of bytes of output, and the time limit of a program in milliseconds.
enum { TENDER_PROGRAM_OUTPUT = 65536, TENDER_PROGRAM_TIME = 10000 };

/// Starts a helper that runs one command of the user's, without the restrictions of this process. Call it before this
/// process has threads or restrictions. `folder` is removed when the helper ends.
///
/// The helper waits for a 32-bit size, and so many bytes of further variables, `NAME=VALUE` with a zero after each. Then
/// it starts the command in a process group of its own. If standard input and output are a terminal, the group gets the
/// foreground. Each further byte is a signal: it goes to the command, those of a keyboard to its group. When the command
/// has ended, the rest of the group gets SIGTERM, and SIGKILL 10 s later. The same happens to a command that does not
/// end within 10 s after SIGTERM, SIGHUP or SIGQUIT. After the answer, the helper ends when the socket closes. If it
/// closes earlier, that is a SIGTERM.
///
/// Returns the descriptor of its socket, or -1.
int tender_system_command(char *const *arguments, const char *folder);

/// The end of a command: errno if it could not be started, else its exit status, or 128 plus the signal that ended it.
struct tender_command_end {
  int32_t problem;
  int32_t status;
};

/// Paths.
struct tender_texts {
  const char *const *texts;
  size_t count;
};

/// TCP ports.
struct tender_ports {
  const uint16_t *numbers;
  size_t count;
};

/// Kinds of sockets, as bits: TCP; UDP and the others that the C library needs for name look-ups; Unix
/// sockets, and among them abstract ones; Bluetooth.
enum {
  TENDER_SOCKETS_TCP = 1,
  TENDER_SOCKETS_NAMES = 2,
  TENDER_SOCKETS_LOCAL = 4,
  TENDER_SOCKETS_ABSTRACT = 8,
  TENDER_SOCKETS_BLUETOOTH = 16,
};

/// The resources that a process may still reach.
struct tender_bounds {
  /// Readable files and folders, writable ones, and nodes of devices. Missing ones are skipped.
  struct tender_texts readable;
  struct tender_texts writable;
  struct tender_texts devices;
  /// Ports to connect to, and ports to listen at.
  struct tender_ports connects;
  struct tender_ports listens;
  /// Kinds of sockets that may be created.
  int sockets;
};

/// The restrictions in force, as bits: files, TCP ports, and calls of the kernel (programs, sockets, other
/// processes).
enum { TENDER_BOUND_FILES = 1, TENDER_BOUND_PORTS = 2, TENDER_BOUND_CALLS = 4 };

/// The kernel's version of Landlock; 0 without it. The fourth version added TCP ports.
int tender_system_landlock(void);

/// Restricts this thread and everything that it starts, permanently. Landlock restricts files and ports.
/// seccomp restricts programs, sockets and other processes. Returns the restrictions in force. From bit 8 on
/// it has the errno of a refused Landlock, and from bit 16 on that of a refused seccomp.
int tender_system_contain(const struct tender_bounds *bounds);

#endif
