#ifndef PERSISTENCE_SQLITE_FILES_H
#define PERSISTENCE_SQLITE_FILES_H

#include <stdint.h>

/// The name of a file system for SQLite that persistence_sqlite_files_register registers.
#define PERSISTENCE_SQLITE_FILES "persistence"

/// The same file system for connections of a store with checksums.
///
/// It refuses to write a large copy of the store by VACUUM INTO, whose pages would have no checksums.
#define PERSISTENCE_SQLITE_CHECKED_FILES "persistence-checked"

/// The number of bytes at the end of each page that a store with checksums reserves.
#define PERSISTENCE_SQLITE_CHECKSUM_SIZE 8

/// The application ID of a store with checksums. It marks the store from its first write on.
#define PERSISTENCE_SQLITE_CHECKSUM_ID 0x2F2DACAB

/// A file control of a main file: whether its path, or that of its log or of the log's index, no longer leads to the file
/// that the first of this process's connections opened. The argument is an int.
#define PERSISTENCE_SQLITE_FILES_MOVED 0x2F2D0001

/// Registers the file systems, unless they are; returns a result code of SQLite.
///
/// It is the system's file system with these additions:
/// - In a store with checksums, each page of the main file ends with a checksum of its content and its number. A write
///   computes it; a read of a page whose checksum is wrong fails with SQLITE_IOERR_DATA.
/// - The memory that connections share for the write-ahead log has blocks on the disk before SQLite writes to it: a write
///   to a mapped page of a full disk would end the process. Without space, the call fails with SQLITE_FULL, or with
///   SQLITE_IOERR_SHMSIZE if a commit was written to the log since the last PERSISTENCE_SQLITE_FILES_MOVED.
/// - Main files answer PERSISTENCE_SQLITE_FILES_MOVED. For SQLITE_FCNTL_HAS_MOVED, they also look for a log or an index that
///   another program has put in the place of this process's: SQLite then closes the log without a checkpoint.
/// - The deletion of a missing file succeeds: a transaction whose rollback journal another program has removed is committed.
/// - A write to a log whose index was removed or replaced fails with SQLITE_IOERR_VNODE.
///
/// Reads and writes of other databases take the system's path.
int persistence_sqlite_files_register(void);

/// The checksum of a page's content, for tests: all bytes but the last eight, and the number of the page from 1.
uint64_t persistence_sqlite_checksum(const void *page, int size, int64_t number);

#endif
