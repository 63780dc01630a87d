#include "CContract.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char contract[] = {
#embed "../../openapi.yaml"
};

const unsigned char *ccontract_bytes(void) { return contract; }

size_t ccontract_count(void) { return sizeof(contract); }
