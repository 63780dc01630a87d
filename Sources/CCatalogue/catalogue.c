#include "CCatalogue.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char hotels[] = {
#embed "hotels.ndjson"
};

const unsigned char *ccatalogue_bytes(void) { return hotels; }

size_t ccatalogue_count(void) { return sizeof(hotels); }
