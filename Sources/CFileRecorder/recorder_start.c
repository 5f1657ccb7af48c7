// Allocations that fail, and the beginning and the end of the log. A part of the recorder: see file_recorder.c.
#ifndef PERSISTENCE_RECORDER
#include "part.h"
PART(start)
#else

#ifdef PERSISTENCE_FAIL_ALLOCATIONS
// Only allocations of C libraries fail. Swift ends a process that is out of memory, so a context cannot answer it.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static struct { uintptr_t start, end; } engines[64];
static int engine_count;

static int add_library(struct dl_phdr_info *info, size_t size, void *context) {
  static const char *const others[] = {
      "linux-vdso", "ld-linux", "libc.", "libm.", "libpthread", "libdl", "librt", "libgcc_s", "libstdc++", "libc++",
      "libswift", "libFoundation", "lib_Foundation", "lib_Internal", "libdispatch", "libBlocksRuntime", "libTesting",
      "libXCTest", "libicu", "libz.", "file-recorder"};
  (void)size, (void)context;
  const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
  if (!*name || engine_count == 64) return 0;
  for (size_t index = 0; index < sizeof others / sizeof *others; index++) {
    if (!strncmp(name, others[index], strlen(others[index]))) return 0;
  }
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[index];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || engine_count == 64) continue;
    engines[engine_count].start = info->dlpi_addr + header->p_vaddr;
    engines[engine_count++].end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
  }
  return 0;
}

static int fails_allocation(void *caller) {
  int is_engine = 0;
  for (int index = 0; index < engine_count && !is_engine; index++) {
    is_engine = (uintptr_t)caller >= engines[index].start && (uintptr_t)caller < engines[index].end;
  }
  if (!is_engine || !is_active()) return 0;
  pthread_mutex_lock(&lock);
  int error = fault(CLASS_ALLOCATE);
  pthread_mutex_unlock(&lock);
  if (error) errno = error;
  return error;
}
void *malloc(size_t size) { return fails_allocation(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
  return fails_allocation(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  return fails_allocation(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
#endif

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("PERSISTENCE_RECORD_LOG"), *folder = getenv("PERSISTENCE_RECORD_ROOT");
  const char *failing = getenv("PERSISTENCE_RECORD_FAIL");
  // Programs that the worker starts are not recorded.
  unsetenv("LD_PRELOAD");
  if (!path || !folder || strlen(folder) >= sizeof root) return;
  strcpy(root, folder);
  root_length = strlen(root);
  owner = getpid();
  if (failing) {
    char class[16];
    unsigned long long first, last;
    if (sscanf(failing, "%15[a-z]:%llu:%llu:%d", class, &first, &last, &failing_error) == 4) {
      for (int index = 0; index < CLASSES; index++) {
        if (!strcmp(class, class_names[index])) failing_class = index;
      }
      first_failing = first;
      last_failing = last;
    }
  }
#ifdef PERSISTENCE_FAIL_ALLOCATIONS
  dl_iterate_phdr(add_library, NULL);
#endif
  int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  // A high number, which programs do not expect to be free.
  log_file = syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 900);
  if (log_file < 0) log_file = file; else syscall(SYS_close, file);
}

__attribute__((destructor)) static void end(void) {
  if (!is_active()) return;
  for (int class = 0; class < CLASSES; class++) put(EVENT_COUNT, class, counts[class], 0, NULL, 0, NULL, 0);
}

#endif
