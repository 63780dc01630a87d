#include "CICU.h"

#include <stddef.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>
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

int8_t cicu_is_width_variant(uint32_t scalar) {
  int32_t type = u_getIntPropertyValue((UChar32)scalar, UCHAR_DECOMPOSITION_TYPE);
  return type == U_DT_WIDE || type == U_DT_NARROW;
}

int8_t cicu_is_conjoining_jamo(uint32_t scalar) {
  int32_t type = u_getIntPropertyValue((UChar32)scalar, UCHAR_HANGUL_SYLLABLE_TYPE);
  return type == U_HST_LEADING_JAMO || type == U_HST_VOWEL_JAMO || type == U_HST_TRAILING_JAMO;
}

int32_t cicu_direction(uint32_t scalar) { return u_charDirection((UChar32)scalar); }

int32_t cicu_script(uint32_t scalar) {
  UErrorCode code = U_ZERO_ERROR;
  UScriptCode script = uscript_getScript((UChar32)scalar, &code);
  return U_SUCCESS(code) ? script : -1;
}

int32_t cicu_normalize(
    int8_t compatible, const uint16_t *text, int32_t length, uint16_t *result, int32_t room,
    int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  const UNormalizer2 *form =
      compatible ? unorm2_getNFKCInstance(&code) : unorm2_getNFCInstance(&code);
  int32_t count = unorm2_normalize(
      form, (const UChar *)text, length, (UChar *)result, room, &code);
  *status = code;
  return count;
}

cicu_checker *cicu_checker_open(int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  USpoofChecker *checker = uspoof_open(&code);
  *status = code;
  return (cicu_checker *)checker;
}

void cicu_checker_close(cicu_checker *checker) { uspoof_close((USpoofChecker *)checker); }

int32_t cicu_checker_skeleton(
    const cicu_checker *checker, const char *text, int32_t length, char *skeleton, int32_t room,
    int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  int32_t count = uspoof_getSkeletonUTF8(
      (const USpoofChecker *)checker, 0, text, length, skeleton, room, &code);
  *status = code;
  return count;
}
