#ifndef CCONTRACT_H
#define CCONTRACT_H

#include <stddef.h>

/// The text of openapi.yaml as it was when the program was built, UTF-8.
const unsigned char *_Nonnull ccontract_bytes(void);

/// How many bytes there are.
size_t ccontract_count(void);

#endif
