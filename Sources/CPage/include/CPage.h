#ifndef CPAGE_H
#define CPAGE_H

#include <stddef.h>

/// One file of the web page, as it was at the time of the build.
typedef struct {
  /// Its path relative to Sources/Page/Files.
  const char *_Nonnull name;
  /// Its content.
  const unsigned char *_Nonnull bytes;
  /// The number of bytes of its content.
  size_t count;
} cpage_file;

/// The number of files.
size_t cpage_count(void);

/// The file at an index, from 0 to `cpage_count() - 1`. The index is not checked.
cpage_file cpage_at(size_t place);

#endif
