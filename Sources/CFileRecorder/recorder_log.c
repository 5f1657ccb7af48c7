// The log and the faults of the recorder, and what it knows of descriptors. A part of the recorder: see file_recorder.c.
#ifndef PERSISTENCE_RECORDER
#include "part.h"
PART(log)
#else

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The kinds of events; FileEvent.swift reads them.
enum {
  EVENT_OPEN = 1, EVENT_WRITE, EVENT_RESIZE, EVENT_SYNC, EVENT_SYNC_ALL, EVENT_RENAME, EVENT_LINK, EVENT_UNLINK,
  EVENT_MKDIR, EVENT_SYMLINK, EVENT_MARK, EVENT_MAP, EVENT_FAULT, EVENT_COUNT, EVENT_UNKNOWN
};
enum { OPEN_CREATED = 1, OPEN_TRUNCATED = 2, OPEN_UNNAMED = 4 };
enum { WRITE_SYNCED = 1 };
enum { SYNC_FAILED = 1 };
enum { RENAME_EXCHANGED = 1 };
enum { LINK_FROM_DESCRIPTOR = 1 };

struct event {
  uint32_t kind, serial;
  uint64_t number;
  uint32_t flags, first, second, reserved;
};

static int log_file = -1;
static char root[PATH_MAX];
static size_t root_length;
static pid_t owner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/// Whether calls of this process are recorded; a forked child is not.
static int is_active(void) { return log_file >= 0 && syscall(SYS_getpid) == owner; }

static void put(uint32_t kind, uint32_t serial, uint64_t number, uint32_t flags, const void *first, size_t first_length,
                const void *second, size_t second_length) {
  struct event event = {kind, serial, number, flags, (uint32_t)first_length, (uint32_t)second_length, 0};
  struct iovec parts[3] = {{&event, sizeof event}, {(void *)first, first_length}, {(void *)second, second_length}};
  int part = 0;
  while (part < 3) {
    ssize_t written = syscall(SYS_writev, log_file, parts + part, 3 - part);
    if (written < 0) {
      if (errno == EINTR) continue;
      static const char message[] = "file recorder: the log cannot be written\n";
      syscall(SYS_write, 2, message, sizeof message - 1);
      syscall(SYS_exit_group, 97);
    }
    while (part < 3 && (size_t)written >= parts[part].iov_len) written -= parts[part++].iov_len;
    if (part < 3) {
      parts[part].iov_base = (char *)parts[part].iov_base + written;
      parts[part].iov_len -= written;
    }
  }
}

static void put_text(uint32_t kind, uint32_t serial, uint32_t flags, const char *first, const char *second) {
  put(kind, serial, 0, flags, first, strlen(first), second, second ? strlen(second) : 0);
}

enum { CLASS_WRITE, CLASS_SYNC, CLASS_OPEN, CLASS_NAME, CLASS_MAP, CLASS_ALLOCATE, CLASSES };
static const char *const class_names[CLASSES] = {"write", "sync", "open", "name", "map", "allocate"};
static uint64_t counts[CLASSES];
static int failing_class = -1, failing_error;
static uint64_t first_failing, last_failing;

/// Counts a call, and returns the error that it must fail with; 0 if it must not. The caller holds the lock.
static int fault(int class) {
  uint64_t number = ++counts[class];
  if (class != failing_class || number < first_failing || (last_failing && number > last_failing)) return 0;
  put(EVENT_FAULT, class, number, failing_error, NULL, 0, NULL, 0);
  return failing_error;
}

struct slot {
  uint32_t serial;
  int is_synced;
  dev_t device;
  ino_t inode;
};
static struct slot slots[65536];
static uint32_t serials;

static int path_of(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return 1;
}

/// Returns the part of a canonical path after the root; NULL if it is elsewhere.
static const char *below_root(const char *path) {
  if (strncmp(path, root, root_length) != 0) return NULL;
  if (path[root_length] == 0) return path + root_length;
  return path[root_length] == '/' ? path + root_length + 1 : NULL;
}

/// Resolves a path except for its last component; returns the part below the root, or NULL.
static const char *resolve(int folder, const char *path, char *resolved) {
  char full[PATH_MAX * 2], parent[PATH_MAX];
  if (!is_active() || !path || !*path || strlen(path) >= PATH_MAX) return NULL;
  if (*path == '/') {
    strcpy(full, path);
  } else {
    if (folder == AT_FDCWD ? !getcwd(parent, sizeof parent) : !path_of(folder, parent)) return NULL;
    snprintf(full, sizeof full, "%s/%s", parent, path);
  }
  size_t length = strlen(full);
  while (length > 1 && full[length - 1] == '/') full[--length] = 0;
  char *slash = strrchr(full, '/');
  const char *name = slash + 1;
  if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) {
    return realpath(full, resolved) ? below_root(resolved) : NULL;
  }
  *slash = 0;
  if (!realpath(*full ? full : "/", parent)) return NULL;
  if (strlen(parent) + strlen(name) + 2 > PATH_MAX) return NULL;
  sprintf(resolved, "%s%s%s", parent, strcmp(parent, "/") ? "/" : "", name);
  return below_root(resolved);
}

static uint32_t track(int descriptor, const char *path, uint32_t flags, int is_synced) {
  struct stat status;
  if (descriptor < 0 || descriptor >= 65536 || fstat(descriptor, &status) != 0) return 0;
  slots[descriptor] = (struct slot){++serials, is_synced, status.st_dev, status.st_ino};
  put_text(EVENT_OPEN, serials, flags, path, NULL);
  return serials;
}

/// Returns the number of an open file below the root; 0 for other descriptors. The caller holds the lock.
static uint32_t serial_of(int descriptor) {
  struct stat status;
  if (descriptor < 0 || descriptor >= 65536 || fstat(descriptor, &status) != 0) return 0;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return 0;
  struct slot *slot = &slots[descriptor];
  if (slot->serial && slot->device == status.st_dev && slot->inode == status.st_ino) return slot->serial;
  // The C library opened or closed it by itself.
  slot->serial = 0;
  char path[PATH_MAX];
  if (!path_of(descriptor, path)) return 0;
  const char *below = below_root(path);
  if (!below) return 0;
  static const char deleted[] = " (deleted)";
  size_t length = strlen(path), suffix = sizeof deleted - 1;
  int is_unnamed = length > suffix && !strcmp(path + length - suffix, deleted) && status.st_nlink == 0;
  return track(descriptor, below, is_unnamed ? OPEN_UNNAMED : 0, 0);
}

/// Copies what is known of a descriptor to its duplicate.
static void duplicate(int from, int to) {
  if (!is_active() || from < 0 || to < 0 || from >= 65536 || to >= 65536) return;
  pthread_mutex_lock(&lock);
  slots[to] = slots[from];
  pthread_mutex_unlock(&lock);
}

#define FAIL(code) do { pthread_mutex_unlock(&lock); errno = (code); return -1; } while (0)

#endif
