#include "CEmbedded.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char contract[] = {
#embed "../../openapi.yaml"
};

const unsigned char *cembedded_contract_bytes(void) { return contract; }

size_t cembedded_contract_count(void) { return sizeof(contract); }
