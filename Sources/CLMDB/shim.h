#ifndef PERSISTENCE_CLMDB_SHIM_H
#define PERSISTENCE_CLMDB_SHIM_H

#include <lmdb.h>

// Lets the processor load a value before it is read, or the first 512 bytes of a longer one.
static inline void persistence_prefetch(const void *value, size_t count) {
  const char *start = (const char *)value;
  size_t end = count < 512 ? count : 512;
  for (size_t offset = 0; offset < end; offset += 64) __builtin_prefetch(start + offset);
}

#endif
