#ifndef CCATALOGUE_H
#define CCATALOGUE_H

#include <stddef.h>

/// The embedded catalogue: one hotel's JSON object a line, UTF-8. See NOTICE.md for where its facts come from.
/// Embedded by C because Swift takes a minute over an array literal of this size.
const unsigned char *_Nonnull ccatalogue_bytes(void);

/// How many bytes there are.
size_t ccatalogue_count(void);

#endif
