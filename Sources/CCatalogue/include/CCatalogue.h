#ifndef CCATALOGUE_H
#define CCATALOGUE_H

#include <stddef.h>

/// The embedded catalogue: one JSON object of a hotel per line, in UTF-8. NOTICE.md names the sources of its facts.
/// C embeds it, because Swift needs a minute to compile an array literal of this size.
const unsigned char *_Nonnull ccatalogue_bytes(void);

/// The number of bytes of the catalogue.
size_t ccatalogue_count(void);

#endif
