#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// A file stands here with three lines, and with one in the table below. The compiler notes each as something that this
// file depends on, so a build takes what has changed.
#define BYTES static const unsigned char

BYTES index_html[] = {
#embed "../Page/Files/index.html"
};

#define FILE(name, bytes) {name, bytes, sizeof(bytes)}

static const cpage_file files[] = {
    FILE("index.html", index_html),
};

size_t cpage_count(void) { return sizeof(files) / sizeof(files[0]); }

cpage_file cpage_at(size_t place) { return files[place]; }
