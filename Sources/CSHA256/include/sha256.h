// SHA-256 (FIPS 180-4), with the processor's own instructions where it has them.
#ifndef PERSISTENCE_SHA256_H
#define PERSISTENCE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/// A digest under way. Values can be copied.
typedef struct {
  void (*compress)(uint32_t state[8], const uint8_t *blocks, size_t count);
  uint32_t state[8];
  uint64_t length;     ///< The bytes so far.
  uint8_t pending[64]; ///< The last `length % 64` bytes.
} persistence_sha256;

/// Starts a digest with the fastest code for this processor.
void persistence_sha256_start(persistence_sha256 *hash);

/// Starts a digest with the code for processors without such instructions.
void persistence_sha256_start_portably(persistence_sha256 *hash);

void persistence_sha256_add(persistence_sha256 *hash, const void *bytes, size_t count);

/// Writes the 32 bytes of the digest. The value must be started again before it is used again.
void persistence_sha256_finish(persistence_sha256 *hash, uint8_t digest[32]);

#endif
