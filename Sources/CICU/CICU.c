#include "CICU.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unicode/ucal.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/uenum.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>
#include <unicode/uregex.h>
#include <unicode/ures.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>
#include <unicode/utrans.h>
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
    int32_t form, const uint16_t *text, int32_t length, uint16_t *result, int32_t room,
    int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  const UNormalizer2 *normalizer = form == 0 ? unorm2_getNFCInstance(&code)
                                   : form == 1 ? unorm2_getNFKCInstance(&code)
                                               : unorm2_getNFKDInstance(&code);
  int32_t count = unorm2_normalize(
      normalizer, (const UChar *)text, length, (UChar *)result, room, &code);
  *status = code;
  return count;
}

const char *const *cicu_regions(void) { return uloc_getISOCountries(); }

const char *cicu_region_three(const char *region) {
  char locale[16];
  snprintf(locale, sizeof locale, "und_%s", region);
  return uloc_getISO3Country(locale);
}

int32_t cicu_locale_count(void) { return uloc_countAvailable(); }

const char *cicu_locale(int32_t index) { return uloc_getAvailable(index); }

void cicu_locale_region(const char *locale, char *region) {
  UErrorCode code = U_ZERO_ERROR;
  int32_t length = uloc_getCountry(locale, region, 4, &code);
  region[U_SUCCESS(code) && length < 4 ? length : 0] = 0;
}

int32_t cicu_region_name(const char *region, const char *locale, uint16_t *name, int32_t room) {
  UErrorCode code = U_ZERO_ERROR;
  char wanted[16];
  snprintf(wanted, sizeof wanted, "und_%s", region);
  int32_t length = uloc_getDisplayCountry(wanted, locale, (UChar *)name, room, &code);
  return code == U_ZERO_ERROR ? length : 0;
}

int32_t cicu_region_short_name(
    const char *region, const char *locale, uint16_t *name, int32_t room) {
  UErrorCode code = U_ZERO_ERROR;
  /* No function gives these without the long ones where there are none. */
  UResourceBundle *tree = ures_open(U_ICUDATA_NAME "-region", locale, &code);
  UResourceBundle *names = ures_getByKey(tree, "Countries%short", NULL, &code);
  int32_t length = 0;
  const UChar *found = ures_getStringByKey(names, region, &length, &code);
  if (U_FAILURE(code) || code == U_USING_DEFAULT_WARNING || length > room) length = 0;
  if (length > 0) memcpy(name, found, (size_t)length * sizeof *name);
  ures_close(names);
  ures_close(tree);
  return length;
}

int32_t cicu_traditional(const uint16_t *text, int32_t length, uint16_t *result, int32_t room) {
  UErrorCode code = U_ZERO_ERROR;
  if (length > room) return -1;
  UTransliterator *rules = utrans_openU(u"Hans-Hant", -1, UTRANS_FORWARD, NULL, 0, NULL, &code);
  memcpy(result, text, (size_t)length * sizeof *result);
  int32_t limit = length;
  utrans_transUChars(rules, (UChar *)result, &length, room, 0, &limit, &code);
  utrans_close(rules);
  return U_FAILURE(code) ? -1 : length;
}

int32_t cicu_zone_city(const char *zone, const char *locale, uint16_t *name, int32_t room) {
  UErrorCode code = U_ZERO_ERROR;
  char key[64];
  snprintf(key, sizeof key, "%s", zone);
  for (char *slash = key; (slash = strchr(slash, '/')); slash++) *slash = ':';
  /* The tree of ICU's data with the names of zones; CLDR calls such a city the exemplar city of its zone. */
  UResourceBundle *tree = ures_open(U_ICUDATA_NAME "-zone", locale, &code);
  UResourceBundle *zones = ures_getByKey(tree, "zoneStrings", NULL, &code);
  UResourceBundle *entry = ures_getByKey(zones, key, NULL, &code);
  int32_t length = 0;
  const UChar *found = ures_getStringByKey(entry, "ec", &length, &code);
  if (U_FAILURE(code) || length > room) length = 0;
  if (length > 0) memcpy(name, found, (size_t)length * sizeof *name);
  ures_close(entry);
  ures_close(zones);
  ures_close(tree);
  return length;
}

void cicu_zones(const char *region, void *context, void (*take)(void *context, const char *zone)) {
  UErrorCode code = U_ZERO_ERROR;
  UEnumeration *zones =
      ucal_openTimeZoneIDEnumeration(UCAL_ZONE_TYPE_CANONICAL_LOCATION, region, NULL, &code);
  const char *zone;
  while (U_SUCCESS(code) && (zone = uenum_next(zones, NULL, &code))) take(context, zone);
  uenum_close(zones);
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

cicu_pattern *cicu_pattern_open(
    const uint16_t *pattern, int32_t length, int8_t ignoresCase, int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  URegularExpression *opened = uregex_open(
      (const UChar *)pattern, length, ignoresCase ? UREGEX_CASE_INSENSITIVE : 0, NULL, &code);
  *status = code;
  return (cicu_pattern *)opened;
}

void cicu_pattern_close(cicu_pattern *pattern) { uregex_close((URegularExpression *)pattern); }

int32_t cicu_pattern_groups(const cicu_pattern *pattern) {
  UErrorCode code = U_ZERO_ERROR;
  return uregex_groupCount((URegularExpression *)pattern, &code);
}

int32_t cicu_pattern_find(
    const cicu_pattern *pattern, const uint16_t *text, int32_t length, int32_t milliseconds,
    int32_t *ranges, int32_t room, int32_t *status) {
  UErrorCode code = U_ZERO_ERROR;
  /* The clone shares the pattern; its text and its matches are its own. */
  URegularExpression *own = uregex_clone((const URegularExpression *)pattern, &code);
  uregex_setTimeLimit(own, milliseconds, &code);
  uregex_setText(own, (const UChar *)text, length, &code);
  int32_t groups = uregex_groupCount(own, &code);
  int32_t count = 0;
  while (U_SUCCESS(code) && count + 2 * (groups + 1) <= room && uregex_findNext(own, &code)) {
    for (int32_t group = 0; group <= groups; group++) {
      ranges[count++] = uregex_start(own, group, &code);
      ranges[count++] = uregex_end(own, group, &code);
    }
  }
  uregex_close(own);
  *status = code;
  return count;
}
