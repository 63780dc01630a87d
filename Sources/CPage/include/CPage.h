#ifndef CPAGE_H
#define CPAGE_H

#include <stddef.h>

/// One file of the web page as it was when the program was built.
typedef struct {
  /// Its name below Sources/Page/Files.
  const char *_Nonnull name;
  /// What it holds.
  const unsigned char *_Nonnull bytes;
  /// How many bytes that are.
  size_t count;
} cpage_file;

/// How many files there are.
size_t cpage_count(void);

/// A file by its place, from 0 to below the count.
cpage_file cpage_at(size_t place);

#endif
