#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

/* Swift can't import inflateInit2 and deflateInit2, because they are macros: https://zlib.net/manual.html#Advanced
   15 + 16 window bits mean the gzip format with its checksum, and no other format; -15 mean deflate without a header. */
static inline int czlib_gunzip_init(z_stream *stream) { return inflateInit2(stream, 15 + 16); }

static inline int czlib_gzip_init(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

static inline int czlib_raw_deflate_init(z_stream *stream) {
  return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}

static inline int czlib_raw_inflate_init(z_stream *stream) { return inflateInit2(stream, -15); }

#endif
