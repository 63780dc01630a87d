#include "CEmbedded.h"

// The pages of the book that `/docs` shows.
extern const cembedded_page_file cembedded_book[];
extern const size_t cembedded_book_count;
