// Calls that change the content of files. A part of the recorder: see file_recorder.c.
#ifndef PERSISTENCE_RECORDER
#include "part.h"
PART(content)
#else

static void put_write(int descriptor, uint32_t serial, uint64_t offset, const void *bytes, size_t count, int synced) {
  put(EVENT_WRITE, serial, offset, synced || slots[descriptor].is_synced ? WRITE_SYNCED : 0, bytes, count, NULL, 0);
}

/// Logs bytes that the kernel wrote without passing them through this process.
static void put_read_back(int descriptor, uint32_t serial, uint64_t offset, size_t count) {
  char link[64], buffer[65536];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  int file = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
  while (file >= 0 && count > 0) {
    size_t part = count < sizeof buffer ? count : sizeof buffer;
    ssize_t found = syscall(SYS_pread64, file, buffer, part, offset);
    if (found <= 0) break;
    put_write(descriptor, serial, offset, buffer, found, 0);
    offset += found;
    count -= found;
  }
  if (file >= 0) syscall(SYS_close, file);
  if (count > 0) put_text(EVENT_UNKNOWN, serial, 0, "a copy whose bytes cannot be read back", NULL);
}

/// Writes vectors at an offset, or at the file's position if the offset is negative.
static ssize_t write_vectors(int descriptor, const struct iovec *vectors, int count, off_t offset, int flags) {
  if (descriptor == 1 && is_active()) {
    pthread_mutex_lock(&lock);
    for (int part = 0; part < count; part++) {
      put(EVENT_MARK, 0, 0, 0, vectors[part].iov_base, vectors[part].iov_len, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
  }
  uint32_t serial = 0;
  struct iovec half;
  int code = 0;
  if (is_active()) {
    pthread_mutex_lock(&lock);
    serial = serial_of(descriptor);
    if (!serial) pthread_mutex_unlock(&lock);
  }
  if (serial) {
    int error = fault(CLASS_WRITE);
    // A disk that fills up takes a part of the write that meets its end.
    int is_short = error == ENOSPC && counts[CLASS_WRITE] == first_failing && count > 0 && vectors[0].iov_len > 1;
    if (error && !is_short) FAIL(error);
    if (is_short) {
      half = (struct iovec){vectors[0].iov_base, vectors[0].iov_len / 2};
      vectors = &half;
      count = 1;
      if (last_failing == first_failing) last_failing++;
    }
  }
  ssize_t written = offset < 0 && !flags ? syscall(SYS_writev, descriptor, vectors, count)
                                         : syscall(SYS_pwritev2, descriptor, vectors, count, offset, 0, flags);
  code = errno;
  if (serial) {
    if (written > 0) {
      int flags_of_file = syscall(SYS_fcntl, descriptor, F_GETFL);
      off_t start = offset;
      if (offset < 0) start = syscall(SYS_lseek, descriptor, 0, SEEK_CUR) - written;
      struct stat status;
      // In Linux, positioned writes to a file opened with O_APPEND append as well.
      if (offset >= 0 && flags_of_file & O_APPEND && fstat(descriptor, &status) == 0) start = status.st_size - written;
      ssize_t rest = written;
      for (int part = 0; part < count && rest > 0; part++) {
        size_t length = vectors[part].iov_len < (size_t)rest ? vectors[part].iov_len : (size_t)rest;
        put_write(descriptor, serial, start, vectors[part].iov_base, length, (flags & RWF_DSYNC) != 0);
        start += length;
        rest -= length;
      }
    }
    pthread_mutex_unlock(&lock);
  }
  errno = code;
  return written;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  struct iovec vector = {(void *)bytes, count};
  return write_vectors(descriptor, &vector, 1, -1, 0);
}
ssize_t writev(int descriptor, const struct iovec *vectors, int count) {
  return write_vectors(descriptor, vectors, count, -1, 0);
}
#define REFUSE_NEGATIVE(offset) if ((offset) < 0) { errno = EINVAL; return -1; }
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  REFUSE_NEGATIVE(offset)
  struct iovec vector = {(void *)bytes, count};
  return write_vectors(descriptor, &vector, 1, offset, 0);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}
ssize_t pwritev(int descriptor, const struct iovec *vectors, int count, off_t offset) {
  REFUSE_NEGATIVE(offset)
  return write_vectors(descriptor, vectors, count, offset, 0);
}
ssize_t pwritev64(int descriptor, const struct iovec *vectors, int count, off_t offset) {
  return pwritev(descriptor, vectors, count, offset);
}
ssize_t pwritev2(int descriptor, const struct iovec *vectors, int count, off_t offset, int flags) {
  return write_vectors(descriptor, vectors, count, offset, flags);
}
ssize_t pwritev64v2(int descriptor, const struct iovec *vectors, int count, off_t offset, int flags) {
  return write_vectors(descriptor, vectors, count, offset, flags);
}

/// Runs a call that changes the content of an open file, and logs it by the statement `record`.
#define CHANGE(class, descriptor, call, record)              \
  if (!is_active()) return call;                             \
  pthread_mutex_lock(&lock);                                 \
  uint32_t serial = serial_of(descriptor);                   \
  int error = serial ? fault(class) : 0;                     \
  if (error) FAIL(error);                                    \
  long result = call;                                        \
  int code = errno;                                          \
  if (serial && result >= 0) { record; }                     \
  pthread_mutex_unlock(&lock);                               \
  errno = code;                                              \
  return result;

static int resize(int descriptor, off_t size) {
  CHANGE(CLASS_WRITE, descriptor, syscall(SYS_ftruncate, descriptor, size),
         put(EVENT_RESIZE, serial, size, 0, NULL, 0, NULL, 0))
}
int ftruncate(int descriptor, off_t size) { return resize(descriptor, size); }
int ftruncate64(int descriptor, off_t size) { return resize(descriptor, size); }
int truncate(const char *path, off_t size) {
  int descriptor = open_at(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  int result = resize(descriptor, size), code = errno;
  close(descriptor);
  errno = code;
  return result;
}
int truncate64(const char *path, off_t size) { return truncate(path, size); }

static void put_allocation(int descriptor, uint32_t serial, int mode, off_t offset, off_t length, off_t before) {
  struct stat status;
  if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) {
    put_text(EVENT_UNKNOWN, serial, 0, "fallocate with a mode that moves bytes", NULL);
    return;
  }
  if (fstat(descriptor, &status) != 0) return;
  if (status.st_size != before) put(EVENT_RESIZE, serial, status.st_size, 0, NULL, 0, NULL, 0);
  if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) && offset < status.st_size) {
    put_read_back(descriptor, serial, offset, offset + length < status.st_size ? length : status.st_size - offset);
  }
}
static off_t size_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? status.st_size : -1;
}
int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  off_t before = size_of(descriptor);
  CHANGE(CLASS_WRITE, descriptor, syscall(SYS_fallocate, descriptor, mode, offset, length),
         put_allocation(descriptor, serial, mode, offset, length, before))
}
int fallocate64(int descriptor, int mode, off_t offset, off_t length) {
  return fallocate(descriptor, mode, offset, length);
}
int posix_fallocate(int descriptor, off_t offset, off_t length) {
  int saved = errno;
  int result = fallocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
  errno = saved;
  return result;
}
int posix_fallocate64(int descriptor, off_t offset, off_t length) {
  return posix_fallocate(descriptor, offset, length);
}

ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t count, unsigned flags) {
  off_t start = to_offset ? *to_offset : syscall(SYS_lseek, to, 0, SEEK_CUR);
  CHANGE(CLASS_WRITE, to, syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags),
         put_read_back(to, serial, start, result))
}
ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
  off_t start = syscall(SYS_lseek, to, 0, SEEK_CUR);
  CHANGE(CLASS_WRITE, to, syscall(SYS_sendfile, to, from, offset, count),
         put_read_back(to, serial, start, result))
}
ssize_t sendfile64(int to, int from, off_t *offset, size_t count) { return sendfile(to, from, offset, count); }

#endif
