#ifndef CICU_H
#define CICU_H

#include <stdint.h>

/* ICU's UCollator, USpoofChecker and URegularExpression. */
typedef struct cicu_collator cicu_collator;
typedef struct cicu_checker cicu_checker;
typedef struct cicu_pattern cicu_pattern;

/* ICU renames its functions with macros (ucol_open becomes ucol_open_72), which Swift does not import. ICU's headers
   also conflict with those of the ICU in Foundation, because their types have the same names. So this header includes
   none of ICU's. Each function here calls one function of ICU, with the effect that ICU's reference describes:
   https://unicode-org.github.io/icu-docs/apidoc/released/icu4c/

   A status is ICU's UErrorCode: above 0 for an error, below 0 for a warning. */

/* Collation. A locale of "" is the root locale; NULL would be the locale of the process. */

cicu_collator *cicu_collator_open(int32_t *status);

void cicu_collator_close(cicu_collator *collator);

/* -1, 0 or 1. The lengths are in bytes of UTF-8. */
int cicu_collator_compare(
    const cicu_collator *collator, const char *left, int32_t leftLength, const char *right,
    int32_t rightLength, int32_t *status);

/* Returns the number of bytes of the sort key, its final zero included; 0 for an error. The key is complete only if
   this number is at most `room`; otherwise the content of `key` is undefined. The length is in UTF-16 code units. */
int32_t cicu_collator_sort_key(
    const cicu_collator *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t room);

/* The collator's version: four numbers that change whenever sort keys may change. */
void cicu_collator_version(const cicu_collator *collator, uint8_t *four);

/* The library's own version, such as 72.1.0.0. */
void cicu_library_version(uint8_t *four);

/* Properties of a code point. */

/* Whether it is the wide or narrow form of another character (a decomposition of type <wide> or <narrow>). */
int8_t cicu_is_width_variant(uint32_t scalar);

/* Whether it is a conjoining jamo: Hangul_Syllable_Type L, V or T. */
int8_t cicu_is_conjoining_jamo(uint32_t scalar);

/* Its Bidi_Class, with ICU's number (UCharDirection). */
int32_t cicu_direction(uint32_t scalar);

/* Its Script, with ICU's number (UScriptCode); -1 for an error. */
int32_t cicu_script(uint32_t scalar);

/* Normal forms. */

/* Writes the text in a normal form and returns its length. The forms are 0 for C, 1 for KC, 2 for KD. When the length
   is more than `room`, the result is not complete. Lengths are in UTF-16 code units. */
int32_t cicu_normalize(
    int32_t form, const uint16_t *text, int32_t length, uint16_t *result, int32_t room,
    int32_t *status);

/* Names of places. A name is written in UTF-16; its length is returned, 0 if there is none. */

/* The region codes of ISO 3166 with two letters; NULL ends them. */
const char *const *cicu_regions(void);

/* The code of a region with three letters. */
const char *cicu_region_three(const char *region);

/* The number of locales that ICU has, and each of them by its index. */
int32_t cicu_locale_count(void);
const char *cicu_locale(int32_t index);

/* The region of a locale, such as AT of de_AT. `region` has room for 4 bytes; it is empty if there is none. */
void cicu_locale_region(const char *locale, char *region);

/* The name of a region in a language. */
int32_t cicu_region_name(const char *region, const char *locale, uint16_t *name, int32_t room);

/* Its short name, if the language's own data has one: "USA". */
int32_t cicu_region_short_name(
    const char *region, const char *locale, uint16_t *name, int32_t room);

/* A text with the traditional form of each Chinese character; -1 if it does not fit into `room`, or without ICU's data. */
int32_t cicu_traditional(const uint16_t *text, int32_t length, uint16_t *result, int32_t room);

/* The name of the city of a time zone such as Europe/Vienna, as the locale's own data has it. */
int32_t cicu_zone_city(const char *zone, const char *locale, uint16_t *name, int32_t room);

/* Calls `take` with the id of each time zone that has a city in the region. */
void cicu_zones(const char *region, void *context, void (*take)(void *context, const char *zone));

/* Texts that look alike. Lengths are in bytes of UTF-8. */

cicu_checker *cicu_checker_open(int32_t *status);

void cicu_checker_close(cicu_checker *checker);

/* Writes the skeleton of a text (UTS 39, section 4) and returns its length. When the length is more than `room`, the
   skeleton is not complete. */
int32_t cicu_checker_skeleton(
    const cicu_checker *checker, const char *text, int32_t length, char *skeleton, int32_t room,
    int32_t *status);

/* Regular expressions. Lengths and positions are in UTF-16 code units. */

cicu_pattern *cicu_pattern_open(
    const uint16_t *pattern, int32_t length, int8_t ignoresCase, int32_t *status);

void cicu_pattern_close(cicu_pattern *pattern);

int32_t cicu_pattern_groups(const cicu_pattern *pattern);

/* Writes where each match and each of its groups begins and ends, -1 for a group without a part, and returns how many
   numbers that are, at most `room`. Several threads may use a pattern at the same time. A status above 0 also says that
   matching took more than some thousand times `milliseconds` steps. */
int32_t cicu_pattern_find(
    const cicu_pattern *pattern, const uint16_t *text, int32_t length, int32_t milliseconds,
    int32_t *ranges, int32_t room, int32_t *status);

#endif
