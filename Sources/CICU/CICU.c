#include "CICU.h"

#include <stddef.h>
#include <unicode/ucol.h>
#include <unicode/uversion.h>

cicu_collator *cicu_collator_open(int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  UCollator *collator = ucol_open("", &code);
  *status = code;
  return (cicu_collator *)collator;
}

void cicu_collator_close(cicu_collator *collator) { ucol_close((UCollator *)collator); }

int cicu_collator_compare(
    const cicu_collator *collator, const char *left, int32_t leftLength, const char *right,
    int32_t rightLength, int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  int order = ucol_strcollUTF8((const UCollator *)collator, left, leftLength, right, rightLength, &code);
  *status = code;
  return order;
}

int32_t cicu_collator_sort_key(
    const cicu_collator *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t room) {
  return ucol_getSortKey((const UCollator *)collator, (const UChar *)text, length, key, room);
}

void cicu_collator_version(const cicu_collator *collator, uint8_t *four) {
  ucol_getVersion((const UCollator *)collator, four);
}

void cicu_library_version(uint8_t *four) { u_getVersion(four); }
