#ifndef CICU_H
#define CICU_H

#include <stdint.h>

/* ICU's UCollator and USpoofChecker. */
typedef struct cicu_collator cicu_collator;
typedef struct cicu_checker cicu_checker;

/* ICU renames its functions by macros (ucol_open is ucol_open_72), which Swift does not import, and its
   headers must not meet those of the ICU that Foundation carries: their types have the same names. So no
   header of ICU's is included here. Each function calls one of ICU's by its plain name and does what ICU's
   reference says of it: https://unicode-org.github.io/icu-docs/apidoc/released/icu4c/

   A status is ICU's UErrorCode: above 0 for a failure, below 0 for a warning. */

/* Collation. A locale of "" is the root locale; NULL would be the locale of the process. */

cicu_collator *cicu_collator_open(int32_t *status);

void cicu_collator_close(cicu_collator *collator);

/* -1, 0 or 1. The lengths are in bytes of UTF-8. */
int cicu_collator_compare(
    const cicu_collator *collator, const char *left, int32_t leftLength, const char *right,
    int32_t rightLength, int32_t *status);

/* The bytes that the sort key takes, its final zero included; it is written if there is room, and
   without meaning if not. 0 for a failure. The length is in UTF-16 units. */
int32_t cicu_collator_sort_key(
    const cicu_collator *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t room);

/* Four numbers that change whenever sort keys may. */
void cicu_collator_version(const cicu_collator *collator, uint8_t *four);

/* The library's own version, such as 72.1.0.0. */
void cicu_library_version(uint8_t *four);

/* Properties of a code point. */

/* Whether it is another character's wide or narrow form (a decomposition of type <wide> or <narrow>). */
int8_t cicu_is_width_variant(uint32_t scalar);

/* Whether it is a conjoining jamo: Hangul_Syllable_Type L, V or T. */
int8_t cicu_is_conjoining_jamo(uint32_t scalar);

/* Its Bidi_Class, as ICU numbers them (UCharDirection). */
int32_t cicu_direction(uint32_t scalar);

/* Its Script, as ICU numbers them (UScriptCode); -1 for a failure. */
int32_t cicu_script(uint32_t scalar);

/* Normal forms. */

/* The text in normal form C, or KC if `compatible` is not 0. Its length, which may be more than there is room
   for: it is written only if there is room. Lengths are in UTF-16 units. */
int32_t cicu_normalize(
    int8_t compatible, const uint16_t *text, int32_t length, uint16_t *result, int32_t room,
    int32_t *status);

/* Texts that look alike. Lengths are in bytes of UTF-8. */

cicu_checker *cicu_checker_open(int32_t *status);

void cicu_checker_close(cicu_checker *checker);

/* The skeleton of a text (UTS 39, section 4); it is written if there is room. */
int32_t cicu_checker_skeleton(
    const cicu_checker *checker, const char *text, int32_t length, char *skeleton, int32_t room,
    int32_t *status);

#endif
