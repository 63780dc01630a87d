#ifndef CRE2_H
#define CRE2_H

#include <stddef.h>
#include <stdint.h>

/* A C interface to RE2, which is in C++. Source: https://github.com/google/re2/blob/2022-06-01/re2/re2.h */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cre2_pattern cre2_pattern;

/* Why a pattern was not compiled. */
enum { cre2_malformed = 1, cre2_too_large = 2 };

/* Compiles a pattern in UTF-8, which needs no zero at its end. Its program and the caches of matching take at most
   `memory` bytes. Returns NULL and sets `failure` when the pattern can't be compiled. */
cre2_pattern *cre2_open(
    const char *pattern, size_t length, int64_t memory, int32_t *failure);

void cre2_close(cre2_pattern *pattern);

/* The number of instructions of the program. */
int32_t cre2_size(const cre2_pattern *pattern);

/* Whether the first `end` bytes of a text in UTF-8 contain a match of the pattern. Tests for the end of the text or of
   a word see the whole text. Several threads may use one pattern at the same time. Returns -1 when there is not enough
   memory. */
int8_t cre2_occurs(
    const cre2_pattern *pattern, const char *text, size_t length, size_t end);

#ifdef __cplusplus
}
#endif

#endif
