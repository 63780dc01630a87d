#ifndef CCONTRACT_H
#define CCONTRACT_H

#include <stddef.h>

/// The text of openapi.yaml at the time of the build, in UTF-8.
const unsigned char *_Nonnull ccontract_bytes(void);

/// The number of bytes of the text.
size_t ccontract_count(void);

#endif
