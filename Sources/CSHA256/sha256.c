#include "sha256.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

typedef void compressor(uint32_t state[8], const uint8_t *blocks, size_t count);

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
static const uint32_t constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static uint32_t big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// FIPS 180-4, 6.2.2.
static void compress_portably(uint32_t state[8], const uint8_t *blocks, size_t count) {
  for (; count > 0; count--, blocks += 64) {
    uint32_t words[64];
    for (int t = 0; t < 16; t++) words[t] = big_endian(blocks + 4 * t);
    for (int t = 16; t < 64; t++) {
      uint32_t far = words[t - 15], near = words[t - 2];
      words[t] = words[t - 16] + words[t - 7] + (rotated(far, 7) ^ rotated(far, 18) ^ far >> 3) +
                 (rotated(near, 17) ^ rotated(near, 19) ^ near >> 10);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
      uint32_t first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (g ^ (e & (f ^ g))) + constants[t] + words[t];
      uint32_t second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (c & (a | b)));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}

#if defined(__x86_64__)
// By the SHA extensions: `sha256rnds2` makes two rounds, `sha256msg1` and `sha256msg2` four words of the schedule.
__attribute__((target("sha,sse4.1,ssse3"))) static void compress_by_instructions(
    uint32_t state[8], const uint8_t *blocks, size_t count) {
  const __m128i reversed = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  // The instructions want the state as (a, b, e, f) and (c, d, g, h), with the first word in the highest lane.
  __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
  __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
  for (; count > 0; count--, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (int t = 0; t < 4; t++)
      words[t] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(blocks + 16 * t)), reversed);
    for (int t = 0; t < 16; t++) {
      if (t >= 4) {
        // words[t & 3] holds the oldest four words; the next ones replace it.
        const __m128i latest = words[(t + 3) & 3];
        const __m128i seventh = _mm_alignr_epi8(latest, words[(t + 2) & 3], 4);
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(words[t & 3], words[(t + 1) & 3]), seventh);
        words[t & 3] = _mm_sha256msg2_epu32(sum, latest);
      }
      const __m128i round =
          _mm_add_epi32(words[t & 3], _mm_load_si128((const __m128i *)(const void *)(constants + 4 * t)));
      // After two rounds the former (a, b, e, f) is the new (c, d, g, h), so the two change places twice.
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, round);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(round, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  state[0] = (uint32_t)_mm_extract_epi32(abef, 3);
  state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
  state[4] = (uint32_t)_mm_extract_epi32(abef, 1);
  state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
  state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
  state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
  state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
  state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}

static compressor *best(void) {
  unsigned a, b, c, d;
  // Leaf 1 tells of SSSE3 (bit 9 of ecx) and SSE4.1 (bit 19), leaf 7 of the SHA extensions (bit 29 of ebx).
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 9) || !(c & 1u << 19)) return compress_portably;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & 1u << 29)) return compress_portably;
  return compress_by_instructions;
}
#else
static compressor *best(void) { return compress_portably; }
#endif

// Chosen at the first use. Several threads may choose at once: they choose the same.
static _Atomic(compressor *) chosen;

static void start(persistence_sha256 *hash, compressor *compress) {
  // The first 32 bits of the fractional parts of the square roots of the first eight primes (FIPS 180-4, 5.3.3).
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  hash->compress = compress;
  memcpy(hash->state, first, sizeof first);
  hash->length = 0;
}

void persistence_sha256_start(persistence_sha256 *hash) {
  compressor *compress = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (!compress) {
    compress = best();
    atomic_store_explicit(&chosen, compress, memory_order_relaxed);
  }
  start(hash, compress);
}

void persistence_sha256_start_portably(persistence_sha256 *hash) { start(hash, compress_portably); }

void persistence_sha256_add(persistence_sha256 *hash, const void *bytes, size_t count) {
  if (count == 0) return;
  const uint8_t *next = bytes;
  size_t held = hash->length % 64;
  hash->length += count;
  if (held > 0) {
    size_t room = 64 - held;
    if (count < room) {
      memcpy(hash->pending + held, next, count);
      return;
    }
    memcpy(hash->pending + held, next, room);
    hash->compress(hash->state, hash->pending, 1);
    next += room;
    count -= room;
  }
  if (count >= 64) {
    hash->compress(hash->state, next, count / 64);
    next += count - count % 64;
    count %= 64;
  }
  memcpy(hash->pending, next, count);
}

void persistence_sha256_finish(persistence_sha256 *hash, uint8_t digest[32]) {
  // A one bit, zeros, and the length in bits in the last eight bytes of a block (FIPS 180-4, 5.1.1).
  uint64_t bits = hash->length * 8;
  size_t held = hash->length % 64;
  uint8_t last[128] = {0};
  memcpy(last, hash->pending, held);
  last[held] = 0x80;
  size_t blocks = held < 56 ? 1 : 2;
  for (int i = 0; i < 8; i++) last[64 * blocks - 1 - i] = (uint8_t)(bits >> (8 * i));
  hash->compress(hash->state, last, blocks);
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 4; j++) digest[4 * i + j] = (uint8_t)(hash->state[i] >> (24 - 8 * j));
  }
}
