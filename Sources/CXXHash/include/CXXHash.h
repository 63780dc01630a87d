#ifndef C_XX_HASH_H
#define C_XX_HASH_H

#include <stddef.h>
#include <stdint.h>

/// The XXH3 hash with 64 bits and no seed of the bytes of `head` followed by those of `rest`. Either may be NULL if its
/// length is 0.
///
/// Source: xxHash 0.8, "XXH3_64bits".
uint64_t xxh3_of_two(const void *head, size_t head_length, const void *rest, size_t rest_length);

#endif
