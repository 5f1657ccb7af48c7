// Calls that change names. A part of the recorder: see file_recorder.c.
#ifndef PERSISTENCE_RECORDER
#include "part.h"
PART(names)
#else

/// Runs a call that changes names, and logs it by the statement `record`.
#define RENAME(concerns, call, record)            \
  if (!(concerns)) return call;                   \
  pthread_mutex_lock(&lock);                      \
  int error = fault(CLASS_NAME);                  \
  if (error) FAIL(error);                         \
  int result = call;                              \
  int code = errno;                               \
  if (result == 0) { record; }                    \
  pthread_mutex_unlock(&lock);                    \
  errno = code;                                   \
  return result;

static int rename_at(int from, const char *path, int to, const char *name, unsigned flags) {
  char first[PATH_MAX], second[PATH_MAX];
  const char *source = resolve(from, path, first), *target = resolve(to, name, second);
  RENAME(source || target, syscall(SYS_renameat2, from, path, to, name, flags),
         if (source && target) put_text(EVENT_RENAME, 0, flags & RENAME_EXCHANGE ? RENAME_EXCHANGED : 0, source, target);
         else put_text(EVENT_UNKNOWN, 0, 0, "a file that is moved into or out of the store's folder", NULL))
}
int rename(const char *path, const char *name) { return rename_at(AT_FDCWD, path, AT_FDCWD, name, 0); }
int renameat(int from, const char *path, int to, const char *name) { return rename_at(from, path, to, name, 0); }
int renameat2(int from, const char *path, int to, const char *name, unsigned flags) {
  return rename_at(from, path, to, name, flags);
}

int linkat(int from, const char *path, int to, const char *name, int flags) {
  char first[PATH_MAX], second[PATH_MAX];
  const char *target = resolve(to, name, second);
  int descriptor = -1;
  if (flags & AT_EMPTY_PATH && !*path) descriptor = from;
  if (sscanf(path, "/proc/self/fd/%d", &descriptor) == 1 || descriptor >= 0) {
    RENAME(target, syscall(SYS_linkat, from, path, to, name, flags), uint32_t serial = serial_of(descriptor);
           put_text(EVENT_LINK, serial, LINK_FROM_DESCRIPTOR, "", target))
  }
  const char *source = resolve(from, path, first);
  RENAME(target, syscall(SYS_linkat, from, path, to, name, flags),
         if (source) put_text(EVENT_LINK, 0, 0, source, target);
         else put_text(EVENT_UNKNOWN, 0, 0, "a link to a file outside of the store's folder", NULL))
}
int link(const char *path, const char *name) { return linkat(AT_FDCWD, path, AT_FDCWD, name, 0); }

int symlinkat(const char *destination, int to, const char *name) {
  char resolved[PATH_MAX];
  const char *target = resolve(to, name, resolved);
  RENAME(target, syscall(SYS_symlinkat, destination, to, name),
         put_text(EVENT_SYMLINK, 0, 0, target, destination))
}
int symlink(const char *destination, const char *name) { return symlinkat(destination, AT_FDCWD, name); }

int unlinkat(int folder, const char *path, int flags) {
  char resolved[PATH_MAX];
  const char *target = resolve(folder, path, resolved);
  RENAME(target, syscall(SYS_unlinkat, folder, path, flags), put_text(EVENT_UNLINK, 0, 0, target, NULL))
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  struct stat status;
  if (lstat(path, &status) != 0) return -1;
  return unlinkat(AT_FDCWD, path, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int folder, const char *path, mode_t mode) {
  char resolved[PATH_MAX];
  const char *target = resolve(folder, path, resolved);
  RENAME(target, syscall(SYS_mkdirat, folder, path, mode), put_text(EVENT_MKDIR, 0, 0, target, NULL))
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

#endif
