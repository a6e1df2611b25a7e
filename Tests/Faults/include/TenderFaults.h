/// Makes the system calls of a program fail at a chosen one; loaded before it (LD_PRELOAD).
///
///   TENDER_FAULT          KIND:N, the N-th call that counts (from 1)
///   TENDER_FAULT_FOLDER   files below it count, and everything sent on a socket
///   TENDER_FAULT_REPORT   where the number of calls that counted is written
///   TENDER_FAULT_LOG      where each call that counts has a line: its name, its file's name
///   TENDER_FAULT_SEED     which unsynced sectors a power cut takes
///
/// Kinds: `enospc` and `eio` (that call fails; a full disk stays full, and takes
/// what a file has room for), `busy` (no lock of the database
/// is to be had from there on), `kill` (SIGKILL before the call), `power` (as `kill`, and what was not
/// synced is lost sector by sector, by the seed), `count`.
///
/// TENDER_PROBE names a file: at the first sync what the process may still do is tried, and each line of
/// the file has what and the error number, 0 where it was allowed. TENDER_PROBE_FOLDER is a folder that
/// the program has no business with.
///
/// TENDER_BOUNDS names a file in the same form, written the moment the process has bounded itself; each line has
/// what, the error number, and of what. TENDER_BOUNDS_PATHS, _PORTS (both with colons between), _SOCKET, _ABSTRACT
/// and _PROCESS say what is tried; with TENDER_BOUNDS_EXEC a program is started, which ends the process where
/// that is allowed.
///
/// A power cut is modelled as far as bytes and sizes of files go: names stay, as on a file system that
/// journals its folders.
#pragma once
