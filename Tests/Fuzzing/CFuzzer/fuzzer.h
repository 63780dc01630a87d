#ifndef HOTEL_BOOKMARKS_FUZZER_H
#define HOTEL_BOOKMARKS_FUZZER_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer's own entry, for programs that have a `main` themselves ("Using libFuzzer as a library" in
// LLVM's documentation). Gives the exit code.
int LLVMFuzzerRunDriver(
    int *_Nonnull count, char *_Nullable *_Nonnull *_Nonnull arguments,
    int (*_Nonnull callback)(const uint8_t *_Nullable bytes, size_t count));

#endif
