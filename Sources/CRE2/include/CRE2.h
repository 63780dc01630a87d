#ifndef CRE2_H
#define CRE2_H

#include <stddef.h>
#include <stdint.h>

/* RE2's regular expressions without its C++. Source: https://github.com/google/re2/blob/2022-06-01/re2/re2.h */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cre2_pattern cre2_pattern;

/* Why a pattern was not compiled. */
enum { cre2_malformed = 1, cre2_too_large = 2 };

/* Compiles a pattern, UTF-8 without a zero at its end. Its program and what matching keeps take so many bytes of
   memory at most. NULL for a pattern that was not compiled; why not stands in `failure` then. */
cre2_pattern *cre2_open(
    const char *pattern, size_t length, int64_t memory, int32_t *failure);

void cre2_close(cre2_pattern *pattern);

/* Instructions of the program. */
int32_t cre2_size(const cre2_pattern *pattern);

/* Whether the pattern occurs within the first `end` bytes of a text in UTF-8, which what stands behind them is
   part of as far as the pattern asks for the end of the text or of a word. Several threads may ask one pattern at
   a time. -1 when there is no memory. */
int8_t cre2_occurs(
    const cre2_pattern *pattern, const char *text, size_t length, size_t end);

#ifdef __cplusplus
}
#endif

#endif
