#include "CEmbedded.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char hotels[] = {
#embed "hotels.ndjson"
};

static const unsigned char names[] = {
#embed "names.txt"
};

const unsigned char *cembedded_catalogue_bytes(void) { return hotels; }

size_t cembedded_catalogue_count(void) { return sizeof(hotels); }

const unsigned char *cembedded_names_bytes(void) { return names; }

size_t cembedded_names_count(void) { return sizeof(names); }
