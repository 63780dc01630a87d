import CZlib

/// Compresses to gzip (RFC 1952) in pieces, with zlib, into one member.
package final class GzipWriter {
  /// The most bytes that are compressed at once: 64 KiB, which take about a millisecond.
  package static let pieceBytes = 64 << 10

  private var packed: [UInt8] = []
  /// On the heap, because zlib stores its address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  /// Makes a writer.
  /// - Parameter level: 1, the fastest, to 9, the smallest; other values are brought into this range.
  /// - Throws: ``CompressionError/outOfMemory`` when zlib gets no memory (about 256 KiB).
  package init(level: Int = 6) throws(CompressionError) {
    stream.initialize(to: z_stream())
    guard czlib_gzip_init(stream, Int32(min(max(level, 1), 9))) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // Has no effect on a stream that was not initialised.
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Compresses everything at once.
  /// - Throws: the errors of ``init(level:)``.
  package static func deflate(
    _ bytes: [UInt8], level: Int = 6
  ) throws(CompressionError) -> [UInt8] {
    let writer = try GzipWriter(level: level)
    writer.append(bytes[...])
    return writer.finish()
  }

  /// Compresses more bytes.
  package func append(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty {
      step(rest.prefix(Self.pieceBytes), Z_NO_FLUSH)
      rest = rest.dropFirst(Self.pieceBytes)
    }
  }

  /// Returns the compressed bytes so far and removes them, for a caller that sends them in pieces.
  package func takePacked() -> [UInt8] {
    defer { packed = [] }
    return packed
  }

  /// Ends the member. Nothing may be appended afterwards.
  /// - Returns: the compressed bytes that were not taken before.
  package func finish() -> [UInt8] {
    step([], Z_FINISH)
    return packed
  }

  /// Gives a piece to zlib and takes its output, until zlib leaves a part of the output buffer empty: then there is no
  /// more.
  private func step(_ piece: ArraySlice<UInt8>, _ flush: Int32) {
    piece.withUnsafeBufferPointer { input in
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      repeat {
        packed += [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, initialized in
          stream.pointee.next_out = output.baseAddress
          stream.pointee.avail_out = UInt32(Self.pieceBytes)
          // For an initialised stream the only error is an output buffer that is too small.
          _ = CZlib.deflate(stream, flush)
          initialized = Self.pieceBytes - Int(stream.pointee.avail_out)
        }
      } while stream.pointee.avail_out == 0
    }
  }
}
