// What the system can do for a process that handles money, where Swift sees no function for it.
#ifndef TENDER_CSYSTEM_H
#define TENDER_CSYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// Whether one version is another or a later one: numbers with points between them; what stands behind
/// a number is left out.
int tender_system_is_version(const char *found, const char *lowest);

/// The arguments as the loader gave them: a preloaded library that changes the environment hides them from
/// Swift, and a command without its words would do nothing and end in 0. NULL where the loader gave none.
char **tender_system_arguments(void);

/// Keeps this process's memory from others of the same user: no debugger, no core dump, whatever
/// handles them. 0 where the system does so.
int tender_system_hide_memory(void);

/// When the file at a path was made, in nanoseconds since 1970: a copy has a time of its own, and on Linux no program
/// can set it (statx(2), `stx_btime`). -1 where there is none, or the file system keeps no such time.
int64_t tender_system_birth(const char *path);

/// Starts a helper that opens addresses by one program, `opener`, before this process has threads, secrets or
/// bounds of its own: a browser's sandbox needs what those forbid. The helper's environment has no
/// variable whose name begins with `prefix`, and it holds none of this process's descriptors.
///
/// The descriptor to ask it by, or -1.
int tender_system_browser(const char *prefix, const char *opener);
/// Has the helper open an http or https address of at most 8192 bytes of ASCII; 0 where the program was started.
int tender_system_open(int helper, const char *address);

/// Starts a helper that runs programs and reads their output, before this process has threads or bounds of its
/// own. `arguments` has the argument lists of `count` programs, each with NULL behind it; the first argument is a path,
/// which is started without a shell. The helper runs no other program. It ends when the descriptor is closed, with the
/// group of processes that it started. The environment is that of the helper for a browser.
///
/// The descriptor to ask it by, or -1.
int tender_system_programs(const char *prefix, char *const *arguments, size_t count);

/// How a program ended, and how many bytes follow: its output, then the beginning of what it wrote on standard error.
struct tender_program_answer {
  /// Its exit status, 128 and the signal that ended it, or one of the values below.
  int32_t status;
  uint32_t output;
  uint32_t errors;
};
enum { TENDER_PROGRAM_MISSING = -1, TENDER_PROGRAM_LATE = -2, TENDER_PROGRAM_LONG = -3 };
/// The most bytes of output and of errors, and how long a program may run, in milliseconds.
enum { TENDER_PROGRAM_OUTPUT = 65536, TENDER_PROGRAM_ERRORS = 4096, TENDER_PROGRAM_TIME = 10000 };

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

/// Kinds of sockets, as bits: TCP; UDP and what else the C library needs to look a name up; Unix sockets, and
/// among them abstract ones; Bluetooth.
enum {
  TENDER_SOCKETS_TCP = 1,
  TENDER_SOCKETS_NAMES = 2,
  TENDER_SOCKETS_LOCAL = 4,
  TENDER_SOCKETS_ABSTRACT = 8,
  TENDER_SOCKETS_BLUETOOTH = 16,
};

/// What a process may still reach.
struct tender_bounds {
  /// Files and folders to read, those to write as well, and nodes of devices; what is not there is left out.
  struct tender_texts readable;
  struct tender_texts writable;
  struct tender_texts devices;
  /// Ports to connect to, and those to listen at.
  struct tender_ports connects;
  struct tender_ports listens;
  /// Sockets that can be made.
  int sockets;
};

/// What has been bounded, as bits: files, TCP ports, and calls of the kernel (programs, sockets, other processes).
enum { TENDER_BOUND_FILES = 1, TENDER_BOUND_PORTS = 2, TENDER_BOUND_CALLS = 4 };

/// Which version of Landlock the kernel has; 0 for none. TCP ports came with the fourth.
int tender_system_landlock(void);

/// Bounds this thread and all that it starts, for good: files and ports by Landlock, programs,
/// sockets and other processes by seccomp. What was bounded; 0 where the kernel can do none of it.
int tender_system_contain(const struct tender_bounds *bounds);

#endif
