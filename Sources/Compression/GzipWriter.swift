import CZlib

/// Packs gzip: RFC 1952, by zlib.
package enum GzipWriter {
  /// Packs bytes into one member.
  /// - Parameter level: 1, the fastest, to 9, the smallest; another is brought into that range.
  /// - Throws: ``CompressionError/outOfMemory`` when zlib gets no memory (about 256 KiB), and
  ///   ``CompressionError/tooLarge`` for 4 GiB or more.
  package static func deflate(
    _ bytes: [UInt8], level: Int = 6
  ) throws(CompressionError) -> [UInt8] {
    guard bytes.count <= Int(UInt32.max) / 2 else { throw .tooLarge }
    var stream = z_stream()
    guard czlib_gzip_init(&stream, Int32(min(max(level, 1), 9))) == Z_OK else {
      throw .outOfMemory
    }
    defer { deflateEnd(&stream) }
    let room = Int(deflateBound(&stream, UInt(bytes.count)))
    var input = bytes
    var code = Z_OK
    let packed = input.withUnsafeMutableBufferPointer { input in
      [UInt8](unsafeUninitializedCapacity: room) { output, initialized in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(room)
        code = CZlib.deflate(&stream, Z_FINISH)
        initialized = room - Int(stream.avail_out)
      }
    }
    guard code == Z_STREAM_END else { throw .outOfMemory }
    return packed
  }
}
