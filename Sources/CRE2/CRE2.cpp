#include "CRE2.h"

#include <new>
#include <re2/re2.h>

// A function that Swift calls must not throw a C++ exception. The only exception in RE2 is std::bad_alloc.

static RE2 *expression(const cre2_pattern *pattern) {
  return reinterpret_cast<RE2 *>(const_cast<cre2_pattern *>(pattern));
}

cre2_pattern *cre2_open(
    const char *pattern, size_t length, int64_t memory, int32_t *failure) {
  *failure = cre2_too_large;
  try {
    RE2::Options options;
    options.set_max_mem(memory);
    // RE2 would write patterns and texts to stderr, but they belong to clients.
    options.set_log_errors(false);
    RE2 *compiled = new RE2(re2::StringPiece(pattern, length), options);
    if (compiled->ok()) return reinterpret_cast<cre2_pattern *>(compiled);
    if (compiled->error_code() != RE2::ErrorPatternTooLarge) *failure = cre2_malformed;
    delete compiled;
  } catch (const std::bad_alloc &) {
  }
  return nullptr;
}

void cre2_close(cre2_pattern *pattern) { delete expression(pattern); }

int32_t cre2_size(const cre2_pattern *pattern) { return expression(pattern)->ProgramSize(); }

int8_t cre2_occurs(
    const cre2_pattern *pattern, const char *text, size_t length, size_t end) {
  try {
    re2::StringPiece subject(text, length);
    return expression(pattern)->Match(subject, 0, end, RE2::UNANCHORED, nullptr, 0) ? 1 : 0;
  } catch (const std::bad_alloc &) {
    return -1;
  }
}
