#include "CEmbedded.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char hotels[] = {
#embed "hotels.ndjson"
};

const unsigned char *cembedded_catalogue_bytes(void) { return hotels; }

size_t cembedded_catalogue_count(void) { return sizeof(hotels); }
