#include "CEmbedded.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char hotels[] = {
#embed "hotels.ndjson"
};

static const unsigned char names[] = {
#embed "names.txt"
};

static const unsigned char words[] = {
#embed "import-words.txt"
};

const unsigned char *cembedded_catalogue_bytes(void) { return hotels; }

size_t cembedded_catalogue_count(void) { return sizeof(hotels); }

const unsigned char *cembedded_names_bytes(void) { return names; }

size_t cembedded_names_count(void) { return sizeof(names); }

const unsigned char *cembedded_words_bytes(void) { return words; }

size_t cembedded_words_count(void) { return sizeof(words); }
