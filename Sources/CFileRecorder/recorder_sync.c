// Calls that make files durable, and memory maps. A part of the recorder: see file_recorder.c.
#ifndef PERSISTENCE_RECORDER
#include "part.h"
PART(sync)
#else

static void (*before_sync)(void);

/// Calls a function of the worker before each synchronization of a file, without the recorder's lock.
__attribute__((visibility("default"))) void persistence_record_before_sync(void (*function)(void)) {
  before_sync = function;
}

static int synchronize(int descriptor, long number) {
  if (!is_active()) return syscall(number, descriptor);
  pthread_mutex_lock(&lock);
  uint32_t serial = serial_of(descriptor);
  pthread_mutex_unlock(&lock);
  if (serial && before_sync) before_sync();
  pthread_mutex_lock(&lock);
  int error = serial ? fault(CLASS_SYNC) : 0;
  int result = error ? -1 : syscall(number, descriptor);
  int code = error ? error : errno;
  if (serial && (result == 0 || code == EIO || code == ENOSPC)) {
    if (number == SYS_syncfs && result == 0) {
      put(EVENT_SYNC_ALL, 0, 0, 0, NULL, 0, NULL, 0);
    } else {
      put(EVENT_SYNC, serial, 0, result == 0 ? 0 : SYNC_FAILED, NULL, 0, NULL, 0);
    }
  }
  pthread_mutex_unlock(&lock);
  errno = code;
  return result;
}
int fsync(int descriptor) { return synchronize(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return synchronize(descriptor, SYS_fdatasync); }
int syncfs(int descriptor) { return synchronize(descriptor, SYS_syncfs); }
void sync(void) {
  syscall(SYS_sync);
  if (!is_active()) return;
  pthread_mutex_lock(&lock);
  put(EVENT_SYNC_ALL, 0, 0, 0, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
}
// It promises nothing after a loss of power, so it is only counted.
int sync_file_range(int descriptor, off_t offset, off_t count, unsigned flags) {
  CHANGE(CLASS_SYNC, descriptor, syscall(SYS_sync_file_range, descriptor, offset, count, flags), (void)0)
}

struct map {
  char *start;
  size_t length;
  uint32_t serial;
  off_t offset;
  int descriptor_of_record;
  char path[PATH_MAX];
};
static struct map maps[64];

static void *map_memory(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  if (descriptor < 0 || flags & MAP_ANONYMOUS || !is_active()) {
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
  }
  pthread_mutex_lock(&lock);
  uint32_t serial = serial_of(descriptor);
  int error = serial ? fault(CLASS_MAP) : 0;
  void *start = error ? MAP_FAILED
                      : (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
  int code = error ? error : errno;
  if (serial && start != MAP_FAILED && flags & MAP_SHARED && protection & PROT_WRITE) {
    put(EVENT_MAP, serial, offset, 0, NULL, 0, NULL, 0);
    for (int entry = 0; entry < 64; entry++) {
      if (maps[entry].start) continue;
      maps[entry] = (struct map){start, length, serial, offset, descriptor, ""};
      if (!path_of(descriptor, maps[entry].path)) maps[entry].path[0] = 0;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  errno = code;
  return start;
}
void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  return map_memory(address, length, protection, flags, descriptor, offset);
}
void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  return map_memory(address, length, protection, flags, descriptor, offset);
}
int munmap(void *address, size_t length) {
  if (is_active()) {
    pthread_mutex_lock(&lock);
    for (int entry = 0; entry < 64; entry++) {
      if (maps[entry].start >= (char *)address && maps[entry].start < (char *)address + length) {
        maps[entry].start = NULL;
      }
    }
    pthread_mutex_unlock(&lock);
  }
  return syscall(SYS_munmap, address, length);
}
int msync(void *address, size_t length, int flags) {
  if (!is_active()) return syscall(SYS_msync, address, length, flags);
  pthread_mutex_lock(&lock);
  struct map *map = NULL;
  for (int entry = 0; entry < 64; entry++) {
    struct map *candidate = &maps[entry];
    if (candidate->start && (char *)address >= candidate->start &&
        (char *)address < candidate->start + candidate->length) {
      map = candidate;
    }
  }
  pthread_mutex_unlock(&lock);
  if (map && before_sync) before_sync();
  pthread_mutex_lock(&lock);
  int error = map ? fault(CLASS_SYNC) : 0;
  int result = error ? -1 : syscall(SYS_msync, address, length, flags);
  int code = error ? error : errno;
  struct stat status;
  if (map && map->start && flags & MS_SYNC && stat(map->path, &status) == 0) {
    off_t offset = map->offset + ((char *)address - map->start);
    size_t count = offset < status.st_size ? status.st_size - offset : 0;
    if (length < count) count = length;
    put(EVENT_WRITE, map->serial, offset, 0, address, count, NULL, 0);
    put(EVENT_SYNC, map->serial, 0, result == 0 ? 0 : SYNC_FAILED, NULL, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = code;
  return result;
}

#endif
