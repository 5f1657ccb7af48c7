#include "sqlite_files.h"

#include <sqlite3.h>
#include <string.h>
#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include "../CFileSystem/filesystem.h"
#endif

/* Which file of the system's a path leads to; zeros if to none. */
typedef struct identity {
  uint64_t device, inode;
} identity;

/* What this file system appends to the system's own structure of an open file. */
typedef struct files_state {
  sqlite3_io_methods methods;       /* the system's methods, some of them replaced */
  const sqlite3_io_methods *system; /* the system's methods */
  const char *path;                 /* SQLite's own copy, which lives as long as the file */
  unsigned char *scratch;           /* a page on its way to the file */
  int scratch_size;
  enum { UNKNOWN, PLAIN, CHECKED } kind;
  enum { UNSEEN, OTHER, RESERVING, COPYING } disk; /* of a main file: how its file system gives blocks to files */
  int copies_checked;               /* whether an empty file is to become a copy of a store with checksums */
  identity database;                /* of a main file: itself; of a log: its database */
  struct files_state *partner;      /* of a main file: its log, while that is open; of a log: its main file */
  identity log, index;              /* of a log: itself, and its index, the shared memory */
  char *index_path;                 /* of a log: the path of its index; null before the index is mapped */
  int headers_left;                 /* of a log: how many headers it writes before it looks for its index again */
  int has_commit;                   /* of a log: whether a commit was written since the last FILES_MOVED */
  struct files_state *next;         /* of a log: the next one that this process has open */
} files_state;

static sqlite3_vfs files_vfs, checked_vfs;
static int state_offset;

static files_state *state_of(sqlite3_file *file) { return (files_state *)((char *)file + state_offset); }

/* A multiplication of 64 by 64 bits whose halves are folded: each input bit changes about half of the result. */
static uint64_t fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word(const unsigned char *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

uint64_t persistence_sqlite_checksum(const void *page, int size, int64_t number) {
  const unsigned char *bytes = page;
  uint64_t first = 0x9E3779B97F4A7C15u ^ (uint64_t)number, second = 0xC2B2AE3D27D4EB4Fu + (uint64_t)size;
  int count = size - PERSISTENCE_SQLITE_CHECKSUM_SIZE, at = 0;
  /* Sizes of pages are multiples of 512, so 8 bytes are left at the end. */
  for (; at + 16 <= count; at += 16) {
    first = fold(first ^ word(bytes + at), 0xD6E8FEB86659FD93u ^ word(bytes + at + 8)) + second;
    second = second * 0xA0761D6478BD642Fu + first;
  }
  for (; at + 8 <= count; at += 8) first = fold(first ^ word(bytes + at), 0xE7037ED1A0B428DBu);
  return fold(first ^ 0x8EBC6AF09C88C6E3u, second ^ 0x589965CC75374CC3u);
}

/* Whether a page was never written: a file may end before a free page. */
static int is_blank(const unsigned char *page, int size) {
  return page[0] == 0 && memcmp(page, page + 1, (size_t)size - 1) == 0;
}

static int is_page(int size) { return size >= 512 && size <= 65536 && (size & (size - 1)) == 0; }

/* Whether the first bytes of a file are those of a store with checksums, of which at most one byte was damaged. */
static int is_marked(const unsigned char *header) {
  uint32_t id = (uint32_t)header[68] << 24 | (uint32_t)header[69] << 16 | (uint32_t)header[70] << 8 | header[71];
  return __builtin_popcount(id ^ PERSISTENCE_SQLITE_CHECKSUM_ID) <= 8;
}

/* Learns from the first bytes of a file whether it has checksums; one that has none takes the system's path from now on. */
static void learn(sqlite3_file *file, const unsigned char *header) {
  files_state *state = state_of(file);
  /* A loss of power while the file was created can leave zeros, which SQLite replaces. */
  if (memcmp(header, "SQLite format 3", 16) != 0) return;
  state->kind = is_marked(header) ? CHECKED : PLAIN;
  if (state->kind == PLAIN) {
    state->methods.xRead = state->system->xRead;
    state->methods.xWrite = state->system->xWrite;
    state->methods.xFetch = state->system->xFetch;
  }
}

static int files_close(sqlite3_file *file) {
  files_state *state = state_of(file);
  sqlite3_free(state->scratch);
  state->scratch = 0;
  return state->system->xClose(file);
}

static int files_read(sqlite3_file *file, void *into, int size, sqlite3_int64 offset) {
  files_state *state = state_of(file);
  int code = state->system->xRead(file, into, size, offset);
  if (state->kind == UNKNOWN) {
    unsigned char header[100];
    if (offset == 0 && size >= (int)sizeof header) {
      /* SQLite reads the header of a file before anything else. */
      if (code == SQLITE_OK) learn(file, into);
    } else if (state->system->xRead(file, header, sizeof header, 0) == SQLITE_OK) {
      /* The file had none then; another process may have written it since. */
      learn(file, header);
    }
  }
  /* SQLite takes the missing part of a page at the end of the file for zeros. */
  int is_read = code == SQLITE_OK || (code == SQLITE_IOERR_SHORT_READ && !is_blank(into, size));
  if (is_read && state->kind == CHECKED && is_page(size) && offset % size == 0) {
    const unsigned char *end = (const unsigned char *)into + size - PERSISTENCE_SQLITE_CHECKSUM_SIZE;
    if (word(end) != persistence_sqlite_checksum(into, size, offset / size + 1)) {
      sqlite3_log(SQLITE_IOERR_DATA, "the checksum of page %lld of %s is wrong", offset / size + 1, state->path);
      return SQLITE_IOERR_DATA;
    }
  }
  return code;
}

static int files_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset) {
  files_state *state = state_of(file);
  if (state->kind == UNKNOWN) {
    if (offset == 0 && size >= 100) {
      learn(file, from);
    } else if (state->copies_checked) {
      /* VACUUM INTO writes a large copy before the page that marks it. */
      sqlite3_log(SQLITE_IOERR_WRITE, "%s cannot become a copy of a store with checksums", state->path);
      return SQLITE_IOERR_WRITE;
    }
  }
  if (state->kind == CHECKED && is_page(size) && offset % size == 0) {
    uint64_t sum = persistence_sqlite_checksum(from, size, offset / size + 1);
    if (state->scratch_size < size) {
      unsigned char *scratch = sqlite3_realloc(state->scratch, size);
      if (!scratch) return SQLITE_IOERR_NOMEM;
      state->scratch = scratch;
      state->scratch_size = size;
    }
    memcpy(state->scratch, from, size - PERSISTENCE_SQLITE_CHECKSUM_SIZE);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    sum = __builtin_bswap64(sum);
#endif
    memcpy(state->scratch + size - PERSISTENCE_SQLITE_CHECKSUM_SIZE, &sum, sizeof sum);
    from = state->scratch;
  }
  return state->system->xWrite(file, from, size, offset);
}

/* Mapped pages would not be checked. SQLite reads a page instead if it gets none. */
static int files_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **page) {
  (void)file, (void)offset, (void)size;
  *page = 0;
  return SQLITE_OK;
}

#ifndef _WIN32
static files_state *logs; /* the open logs of this process, guarded by SQLITE_MUTEX_STATIC_APP2 */

/* How many frames a transaction writes between two looks for the index: it may fill a log long before it commits. */
enum { HEADERS_PER_CHECK = 64, FRAME_HEADER = 24, LOG_HEADER = 32 };

/* SQLite extends the index by writing to the end of each part of this size. */
enum { REGION_STEP = 4096 };

static identity identity_of(const char *path) {
  struct stat status;
  if (!path || stat(path, &status) != 0) return (identity){0, 0};
  return (identity){(uint64_t)status.st_dev, (uint64_t)status.st_ino};
}

/* Whether two identities are of one file; a missing file is none. */
static int is_same(identity a, identity b) { return a.inode != 0 && a.device == b.device && a.inode == b.inode; }

/* Remembers which file a log is.

   The connections of a process share the log's index, so all of them must use the log that the first one opened. */
static void remember_log(files_state *state) {
  sqlite3_file *database = sqlite3_database_file_object(state->path);
  state->log = identity_of(state->path);
  if (database->pMethods == &state_of(database)->methods) {
    state->partner = state_of(database);
    state->partner->partner = state;
    state->database = state->partner->database;
  } else {
    state->database = identity_of(sqlite3_filename_database(state->path));
  }
  sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2);
  sqlite3_mutex_enter(mutex);
  for (files_state *known = logs; known; known = known->next) {
    if (!is_same(known->database, state->database)) continue;
    state->log = known->log;
    break;
  }
  state->next = logs;
  logs = state;
  sqlite3_mutex_leave(mutex);
}

/* Remembers which file the index of a log is: the one that the first connection of this process has mapped. */
static int remember_index(files_state *state) {
  if (state->index_path) return SQLITE_OK;
  char *path = sqlite3_mprintf("%s-shm", sqlite3_filename_database(state->path));
  if (!path) return SQLITE_IOERR_NOMEM;
  sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2);
  sqlite3_mutex_enter(mutex);
  files_state *known = logs;
  while (known && !(known->index_path && is_same(known->database, state->database))) known = known->next;
  state->index = known ? known->index : identity_of(path);
  /* Some systems keep it elsewhere. */
  if (state->index.inode != 0) state->index_path = path;
  sqlite3_mutex_leave(mutex);
  if (!state->index_path) sqlite3_free(path);
  return SQLITE_OK;
}

static int has_index_moved(const files_state *log) {
  return log->index_path && !is_same(identity_of(log->index_path), log->index);
}

/* Writes into a log, unless its index was removed or replaced: another process may have frames in the same place. */
static int log_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset) {
  files_state *state = state_of(file);
  if (size <= LOG_HEADER) {
    if (state->headers_left == 0) {
      if (has_index_moved(state)) {
        sqlite3_log(SQLITE_IOERR_VNODE, "%s was removed or replaced", state->index_path);
        return SQLITE_IOERR_VNODE;
      }
      state->headers_left = HEADERS_PER_CHECK;
    }
    state->headers_left--;
    /* The last frame of a transaction has the size of the database. */
    if (size == FRAME_HEADER && memcmp((const char *)from + 4, "\0\0\0", 4) != 0) {
      state->has_commit = 1;
      state->headers_left = 0;
    }
  }
  return state->system->xWrite(file, from, size, offset);
}

static int log_close(sqlite3_file *file) {
  files_state *state = state_of(file);
  sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2);
  sqlite3_mutex_enter(mutex);
  files_state **place = &logs;
  while (*place && *place != state) place = &(*place)->next;
  if (*place) *place = state->next;
  sqlite3_mutex_leave(mutex);
  if (state->partner) state->partner->partner = 0;
  sqlite3_free(state->index_path);
  state->index_path = 0;
  return state->system->xClose(file);
}

/* Whether another program may use the log, or another log at its path, without the locks of this process.

   A log that is missing from its path is not used: closing the store saves its commits. */
static int is_used_elsewhere(const files_state *log) {
  identity found = identity_of(log->path);
  return found.inode != 0 && (!is_same(found, log->log) || has_index_moved(log));
}

static int files_control(sqlite3_file *file, int operation, void *argument) {
  files_state *state = state_of(file), *log = state->partner;
  if (operation == PERSISTENCE_SQLITE_FILES_MOVED) {
    int has_moved = !is_same(identity_of(state->path), state->database);
    if (log) {
      has_moved = has_moved || !is_same(identity_of(log->path), log->log) || has_index_moved(log);
      log->headers_left = has_moved ? 0 : HEADERS_PER_CHECK;
      log->has_commit = 0;
    }
    *(int *)argument = has_moved;
    return SQLITE_OK;
  }
  int code = state->system->xFileControl(file, operation, argument);
  /* SQLite asks this before it checkpoints a log to close it, and removes the log. */
  if (operation == SQLITE_FCNTL_HAS_MOVED && code == SQLITE_OK && log && *(int *)argument == 0) {
    *(int *)argument = is_used_elsewhere(log);
  }
  return code;
}

/* Whether a mapped range has blocks on the disk, which are allocated if it has none. */
static int has_blocks(const files_state *state, void *range, size_t size) {
  struct statvfs disk;
#ifdef __linux__
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
  /* The system writes to the range, and reports what would end the process. */
  if (madvise(range, size, MADV_POPULATE_WRITE) == 0) return 1;
  if (errno == EFAULT) return 0;
#endif
  /* Linux before 5.14 and other systems cannot report it, so some space must be free. */
  (void)range;
  return statvfs(state->path, &disk) != 0 || (uint64_t)disk.f_bfree * disk.f_frsize >= size;
}
#endif

#ifdef __linux__
/* How the file system of a main file gives blocks to files; it is asked once. */
static int disk_of(files_state *state) {
  struct statfs disk;
  if (state->disk != UNSEEN) return state->disk;
  state->disk = OTHER;
  if (statfs(state->path, &disk) != 0) return state->disk;
  if (disk.f_type == BTRFS_SUPER_MAGIC) state->disk = COPYING;
  /* EXT4_SUPER_MAGIC is also that of ext2 and ext3. */
  int is_known = disk.f_type == EXT4_SUPER_MAGIC || disk.f_type == TMPFS_MAGIC;
  if (is_known && disk.f_bsize >= REGION_STEP) state->disk = RESERVING;
  return state->disk;
}

/* Whether SQLite, which is about to extend the shared memory, makes the file system reserve all blocks of the region.

   It writes a byte into each 4 KiB that it adds. ext4 and tmpfs then reserve the whole block, or report a full disk, and
   a write through the map needs no other one. The caller holds the log's lock for writers, so no other process extends
   the file in between. */
static int is_reserved_by_extending(files_state *state, int region, int size) {
  const files_state *log = state->partner;
  struct stat index;
  if (!log || !log->index_path || disk_of(state) != RESERVING || stat(log->index_path, &index) != 0) return 0;
  return (uint64_t)index.st_dev == state->database.device
    && index.st_size < (off_t)region * size + REGION_STEP;
}

/* Creates the shared memory of a new log on btrfs so that writes replace its blocks. Where it cannot be done, SQLite
   creates the file as usual. */
static void create_in_place(const char *path) {
  struct stat database;
  if (stat(path, &database) != 0) return;
  char *name = sqlite3_mprintf("%s-shm", path);
  if (!name) return;
  int descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, database.st_mode & 0777);
  sqlite3_free(name);
  if (descriptor < 0) return;
  /* The owner and the rights of the database, as SQLite gives them. */
  if (geteuid() == 0 && fchown(descriptor, database.st_uid, database.st_gid) != 0) { /* as SQLite does */ }
  (void)fchmod(descriptor, database.st_mode & 0777);
  c_replace_blocks(descriptor);
  close(descriptor);
}
#endif

/* Maps a part of the shared memory; the first part creates it. */
static int map_shared(sqlite3_file *file, int region, int size, int extends, void volatile **into) {
  files_state *state = state_of(file);
#ifdef __linux__
  if (region == 0) {
    /* Closing a file gives up this process's locks on it, so no other connection may open it in between. */
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP3);
    sqlite3_mutex_enter(mutex);
    if (disk_of(state) == COPYING) create_in_place(state->path);
    int code = state->system->xShmMap(file, region, size, extends, into);
    sqlite3_mutex_leave(mutex);
    return code;
  }
#endif
  return state->system->xShmMap(file, region, size, extends, into);
}

static int files_map(sqlite3_file *file, int region, int size, int extends, void volatile **into) {
  files_state *state = state_of(file);
  int is_reserved = 0;
#ifdef __linux__
  is_reserved = extends && is_reserved_by_extending(state, region, size);
#endif
  int code = map_shared(file, region, size, extends, into);
#ifndef _WIN32
  files_state *log = state->partner;
  int is_full = code == SQLITE_IOERR_SHMSIZE && (errno == ENOSPC || errno == EDQUOT);
  /* SQLite extends the index after it has written a commit to the log. SQLITE_IOERR_SHMSIZE stands for a full disk then,
     and SQLITE_IOERR_SHMMAP for other failures: after other codes a commit would be known to have failed. */
  int is_committing = log && log->has_commit;
  int full = is_committing ? SQLITE_IOERR_SHMSIZE : SQLITE_FULL;
  if (is_full) return full;
  if (code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_SHMMAP) {
    return is_committing ? SQLITE_IOERR_SHMMAP : SQLITE_IOERR_SHMOPEN;
  }
  if (code == SQLITE_OK && region == 0 && log) {
    code = remember_index(log);
    /* Without its address, SQLite maps the range again before it uses it. */
    if (code != SQLITE_OK) *into = 0;
  }
  if (code == SQLITE_OK && *into && !is_reserved && !has_blocks(state, (void *)(uintptr_t)*into, (size_t)size)) {
    *into = 0;
    return full;
  }
#endif
  return code;
}

#ifndef _WIN32
/* Makes the names in a file's folder durable. */
static int sync_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return SQLITE_OK;
  char *folder = sqlite3_mprintf("%.*s", slash == path ? 1 : (int)(slash - path), path);
  if (!folder) return SQLITE_NOMEM;
  int descriptor = open(folder, O_RDONLY | O_CLOEXEC);
  sqlite3_free(folder);
  if (descriptor < 0) return SQLITE_CANTOPEN;
  /* Some file systems cannot synchronize folders. */
  int code = fsync(descriptor) == 0 || errno == EINVAL ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
  close(descriptor);
  return code;
}

/* Makes the name of a new file durable.

   SQLite does it late and ignores a failure: a loss of power could then keep the journal's name and lose the file's, which
   looks like a store whose file was removed. */
static int sync_new_name(const char *path, sqlite3_file *file, int flags) {
  sqlite3_int64 size;
  if (!(flags & SQLITE_OPEN_CREATE) || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL))) return SQLITE_OK;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK || size > 0) return SQLITE_OK;
  return sync_folder(path);
}

/* Synchronizes a log, and first its name, which another connection may have created and not synchronized.

   Not when it is created: most openings only read. SQLite ignores a failure, and a loss of power could then lose the log of
   acknowledged transactions. */
static int sync_log(sqlite3_file *file, int flags) {
  files_state *state = state_of(file);
  int code = sync_folder(state->path);
  if (code != SQLITE_OK) return code;
  state->methods.xSync = state->system->xSync;
  return state->system->xSync(file, flags);
}

/* Whether a path is that of a rollback journal whose main file is no longer at its own path. */
static int is_journal_of_moved(const char *path) {
  static const char end[] = "-journal";
  size_t length = strlen(path);
  if (length < sizeof end || strcmp(path + length - (sizeof end - 1), end) != 0) return 0;
  sqlite3_file *database = sqlite3_database_file_object(path);
  int has_moved = 0;
  return database->pMethods
    && database->pMethods->xFileControl(database, SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK && has_moved;
}

/* Deletes a file. A transaction is committed when its journal is gone, also if another program has removed it, unless that
   program has moved both: the journal would then undo the transaction where they are. */
static int files_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
  sqlite3_vfs *system = vfs->pAppData;
  int code = system->xDelete(system, path, syncs);
  if (code != SQLITE_IOERR_DELETE_NOENT) return code;
  if (is_journal_of_moved(path)) return SQLITE_IOERR_VNODE;
  return syncs ? sync_folder(path) : SQLITE_OK;
}
#endif

static int files_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
  sqlite3_vfs *system = vfs->pAppData;
  int code = system->xOpen(system, path, file, flags, opened);
  if (code != SQLITE_OK || !path || !file->pMethods) return code;
#ifndef _WIN32
  code = sync_new_name(path, file, flags);
  if (code != SQLITE_OK) {
    file->pMethods->xClose(file);
    file->pMethods = 0;
    return code;
  }
#endif
  if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) return SQLITE_OK;
  files_state *state = state_of(file);
  memset(state, 0, sizeof *state);
  state->system = file->pMethods;
  state->methods = *file->pMethods;
  state->path = path;
  if (flags & SQLITE_OPEN_WAL) {
#ifndef _WIN32
    state->methods.xSync = sync_log;
    state->methods.xClose = log_close;
    state->methods.xWrite = log_write;
    remember_log(state);
    file->pMethods = &state->methods;
#endif
    return SQLITE_OK;
  }
  state->copies_checked = vfs == &checked_vfs;
  state->methods.xClose = files_close;
#ifndef _WIN32
  state->methods.xFileControl = files_control;
  state->database = identity_of(path);
#endif
  if (state->methods.iVersion >= 2 && state->methods.xShmMap) state->methods.xShmMap = files_map;
  state->methods.xRead = files_read;
  state->methods.xWrite = files_write;
  if (state->methods.iVersion >= 3 && state->methods.xFetch) state->methods.xFetch = files_fetch;
  file->pMethods = &state->methods;
  return SQLITE_OK;
}

int persistence_sqlite_files_register(void) {
  sqlite3_vfs *system;
  int code = sqlite3_initialize();
  if (code != SQLITE_OK || sqlite3_vfs_find(PERSISTENCE_SQLITE_FILES)) return code;
  system = sqlite3_vfs_find(0);
  if (!system) return SQLITE_ERROR;
  state_offset = (system->szOsFile + 15) & ~15;
  files_vfs = *system;
  files_vfs.szOsFile = state_offset + (int)sizeof(files_state);
  files_vfs.pAppData = system;
  files_vfs.pNext = 0;
  files_vfs.xOpen = files_open;
#ifndef _WIN32
  files_vfs.xDelete = files_delete;
#endif
  checked_vfs = files_vfs;
  files_vfs.zName = PERSISTENCE_SQLITE_FILES;
  checked_vfs.zName = PERSISTENCE_SQLITE_CHECKED_FILES;
  code = sqlite3_vfs_register(&checked_vfs, 0);
  return code == SQLITE_OK ? sqlite3_vfs_register(&files_vfs, 0) : code;
}
