#include "CEmbedded.h"

// The files of the pages for developers and operators, `/docs` and `/admin`.
extern const cembedded_page_file cembedded_tools[];
extern const size_t cembedded_tools_count;
