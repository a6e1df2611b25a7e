/// Makes the system calls of a program fail at a chosen one. It is loaded before the program (LD_PRELOAD).
///
///   TENDER_FAULT          KIND:N, the N-th counted call (from 1)
///   TENDER_FAULT_FOLDER   calls on files below it count, and all sends on sockets
///   TENDER_FAULT_REPORT   the file for the number of counted calls
///   TENDER_FAULT_LOG      the file with a line for each counted call: its name, its file's name
///   TENDER_FAULT_SEED     chooses the unsynced sectors that a power cut loses
///
/// Kinds: `enospc` and `eio` (that call fails; a full disk stays full, and accepts
/// writes into allocated space), `busy` (the database stays locked from there on),
/// `sparse` (blocks have 1024 bytes, and SQLite's index has pages without one),
/// `kill` (SIGKILL before the call), `power` (as `kill`, and unsynced data are lost
/// sector by sector, by the seed), `count`.
///
/// TENDER_PROBE names a file. At the first sync, the program tries the accesses that it may
/// still have. Each line of the file has an access and its error number, 0 if it was allowed.
/// TENDER_PROBE_FOLDER is a folder that the program must not reach.
///
/// TENDER_BOUNDS names a file in the same form. It is written as soon as the process has
/// restricted itself. Each line has an access, the error number, and its object.
/// TENDER_BOUNDS_PATHS, _PORTS (both with colons between), _SOCKET, _ABSTRACT and _PROCESS
/// are the objects. With TENDER_BOUNDS_EXEC, a program is started. If that is allowed, it
/// ends the process.
///
/// A power cut is modeled for the bytes and sizes of files. Names stay, as on a file system
/// that journals its folders.
#pragma once
