// Calls that open, close and duplicate descriptors. A part of the recorder: see file_recorder.c.
#ifndef PERSISTENCE_RECORDER
#include "part.h"
PART(open)
#else

static int open_at(int folder, const char *path, int flags, mode_t mode) {
  char resolved[PATH_MAX];
  const char *below = resolve(folder, path, resolved);
  if (!below) {
    int descriptor = syscall(SYS_openat, folder, path, flags, mode);
    if (descriptor >= 0 && descriptor < 65536) slots[descriptor].serial = 0;
    return descriptor;
  }
  pthread_mutex_lock(&lock);
  int error = fault(CLASS_OPEN);
  if (error) FAIL(error);
  struct stat status;
  int is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  int existed = syscall(SYS_newfstatat, AT_FDCWD, resolved, &status, AT_SYMLINK_NOFOLLOW) == 0;
  int descriptor = syscall(SYS_openat, folder, path, flags, mode);
  int code = errno;
  if (descriptor >= 0) {
    char actual[PATH_MAX];
    // A symbolic link leads to another name, perhaps outside of the root.
    if (existed && S_ISLNK(status.st_mode)) below = path_of(descriptor, actual) ? below_root(actual) : NULL;
    uint32_t events = is_unnamed ? OPEN_UNNAMED : !existed && flags & O_CREAT ? OPEN_CREATED : 0;
    if (existed && flags & O_TRUNC && (flags & O_ACCMODE) != O_RDONLY) events |= OPEN_TRUNCATED;
    if (below) {
      track(descriptor, below, events, (flags & O_DSYNC) != 0);
    } else if (descriptor < 65536) {
      slots[descriptor].serial = 0;
    }
  }
  pthread_mutex_unlock(&lock);
  errno = code;
  return descriptor;
}

static mode_t mode_argument(int flags, va_list list) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                    \
  int name(const char *path, int flags, ...) {        \
    va_list list;                                     \
    va_start(list, flags);                            \
    mode_t mode = mode_argument(flags, list);         \
    va_end(list);                                     \
    return open_at(AT_FDCWD, path, flags, mode);      \
  }
#define OPENAT(name)                                        \
  int name(int folder, const char *path, int flags, ...) {  \
    va_list list;                                           \
    va_start(list, flags);                                  \
    mode_t mode = mode_argument(flags, list);               \
    va_end(list);                                           \
    return open_at(folder, path, flags, mode);              \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __openat_2(int folder, const char *path, int flags) { return open_at(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return open_at(folder, path, flags, 0); }
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

DIR *opendir(const char *path) {
  int descriptor = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) return NULL;
  DIR *folder = fdopendir(descriptor);
  if (!folder) close(descriptor);
  return folder;
}

static int make_temporary(char *template, int suffix, int flags) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  static uint64_t state = 88172645463325252;
  size_t length = strlen(template);
  if (length < (size_t)suffix + 6 || strncmp(template + length - suffix - 6, "XXXXXX", 6)) {
    errno = EINVAL;
    return -1;
  }
  char *name = template + length - suffix - 6;
  for (int attempt = 0; attempt < 100; attempt++) {
    for (int position = 0; position < 6; position++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      name[position] = letters[(state + owner) % 36];
    }
    int descriptor = open_at(AT_FDCWD, template, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}
int mkstemp(char *template) { return make_temporary(template, 0, 0); }
int mkstemp64(char *template) { return make_temporary(template, 0, 0); }
int mkostemp(char *template, int flags) { return make_temporary(template, 0, flags); }
int mkostemp64(char *template, int flags) { return make_temporary(template, 0, flags); }
int mkstemps(char *template, int suffix) { return make_temporary(template, suffix, 0); }
int mkostemps(char *template, int suffix, int flags) { return make_temporary(template, suffix, flags); }

int close(int descriptor) {
  if (is_active() && descriptor >= 0 && descriptor < 65536) {
    pthread_mutex_lock(&lock);
    slots[descriptor].serial = 0;
    pthread_mutex_unlock(&lock);
  }
  return syscall(SYS_close, descriptor);
}

int dup(int descriptor) {
  int copy = syscall(SYS_dup, descriptor);
  duplicate(descriptor, copy);
  return copy;
}
int dup3(int descriptor, int target, int flags) {
  int copy = syscall(SYS_dup3, descriptor, target, flags);
  duplicate(descriptor, copy);
  return copy;
}
int dup2(int descriptor, int target) {
  if (descriptor == target) return syscall(SYS_fcntl, descriptor, F_GETFD) < 0 ? -1 : target;
  return dup3(descriptor, target, 0);
}
int fcntl(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);
  va_end(list);
  int result = syscall(SYS_fcntl, descriptor, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) duplicate(descriptor, result);
  return result;
}
int fcntl64(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);
  va_end(list);
  return fcntl(descriptor, command, argument);
}

#endif
