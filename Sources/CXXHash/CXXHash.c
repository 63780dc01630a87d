#include "CXXHash.h"

// The header contains all functions, so that the server needs no library when it runs.
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t xxh3_of_two(const void *head, size_t head_length, const void *rest, size_t rest_length) {
  if (rest_length == 0) return XXH3_64bits(head, head_length);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  if (head_length > 0) XXH3_64bits_update(&state, head, head_length);
  XXH3_64bits_update(&state, rest, rest_length);
  return XXH3_64bits_digest(&state);
}
