#ifndef CEMBEDDED_H
#define CEMBEDDED_H

#include <stddef.h>

/// The catalogue: one JSON object of a hotel per line, in UTF-8. NOTICE.md names the sources of its facts.
/// C embeds it, because Swift needs a minute to compile an array literal of this size.
const unsigned char *_Nonnull cembedded_catalogue_bytes(void);

/// The number of bytes of the catalogue.
size_t cembedded_catalogue_count(void);

/// Names of places and of what hotels have, in UTF-8; the comments at the beginning of each kind say what its lines are.
const unsigned char *_Nonnull cembedded_names_bytes(void);

/// The number of bytes of the names.
size_t cembedded_names_count(void);

/// Words that files of hotels have, in UTF-8, one list after another, as the comments in it say.
const unsigned char *_Nonnull cembedded_words_bytes(void);

/// The number of bytes of the words.
size_t cembedded_words_count(void);

/// The text of openapi.yaml at the time of the build, in UTF-8.
const unsigned char *_Nonnull cembedded_contract_bytes(void);

/// The number of bytes of the text.
size_t cembedded_contract_count(void);

/// One file of the web page, as it was at the time of the build.
typedef struct {
  /// Its path relative to Sources/Page/Files.
  const char *_Nonnull name;
  /// Its content.
  const unsigned char *_Nonnull bytes;
  /// The number of bytes of its content.
  size_t count;
} cembedded_page_file;

/// The number of files.
size_t cembedded_file_count(void);

/// The file at an index, from 0 to `cembedded_file_count() - 1`. The index is not checked.
cembedded_page_file cembedded_file(size_t place);

#endif
