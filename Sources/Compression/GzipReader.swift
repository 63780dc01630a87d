import CZlib

/// Unpacks gzip: RFC 1952, by zlib.
package enum GzipReader {
  /// Bytes that are unpacked at a time: 64 KiB.
  private static let chunkBytes = 64 << 10

  /// Unpacks all members of a gzip file, one after the other, as RFC 1952 section 2.2 has them.
  /// - Parameter limit: the bytes that may come out. Unpacking stops there, however much more there
  ///   were.
  /// - Throws: ``CompressionError/malformed`` for a truncated or damaged member, a wrong check sum,
  ///   anything after the last member, and for no member at all; ``CompressionError/tooLarge`` past
  ///   the limit.
  package static func inflate(
    _ packed: [UInt8], limit: Int
  ) throws(CompressionError) -> [UInt8] {
    guard limit >= 0, packed.count <= Int(UInt32.max) else { throw .tooLarge }
    var stream = z_stream()
    guard czlib_gunzip_init(&stream) == Z_OK else { throw .outOfMemory }
    defer { inflateEnd(&stream) }
    var input = packed
    let result = input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      return members(&stream, limit: limit)
    }
    return try result.get()
  }

  private static func members(
    _ stream: inout z_stream, limit: Int
  ) -> Result<[UInt8], CompressionError> {
    var unpacked: [UInt8] = []
    while true {
      switch step(&stream, limit: limit, into: &unpacked) {
      case Z_STREAM_END:
        if unpacked.count > limit { return .failure(.tooLarge) }
        if stream.avail_in == 0 { return .success(unpacked) }
        guard inflateReset(&stream) == Z_OK else { return .failure(.malformed) }
      case Z_OK:
        if unpacked.count > limit { return .failure(.tooLarge) }
      case Z_MEM_ERROR:
        return .failure(.outOfMemory)
      default:
        return .failure(.malformed)
      }
    }
  }

  /// Unpacks into some more room: a chunk, or one byte more than the limit leaves, which tells a
  /// text of exactly the limit from a longer one.
  private static func step(
    _ stream: inout z_stream, limit: Int, into unpacked: inout [UInt8]
  ) -> Int32 {
    let room = min(chunkBytes, limit - unpacked.count + 1)
    var code = Z_OK
    let chunk = [UInt8](unsafeUninitializedCapacity: room) { bytes, initialized in
      stream.next_out = bytes.baseAddress
      stream.avail_out = UInt32(room)
      code = CZlib.inflate(&stream, Z_NO_FLUSH)
      initialized = room - Int(stream.avail_out)
    }
    unpacked += chunk
    return code
  }
}
