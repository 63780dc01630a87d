import CZlib

/// Packs gzip, piece by piece: RFC 1952, by zlib, into one member.
package final class GzipWriter {
  /// Bytes that are packed at a time, at most, so that others have their turn between them: 64 KiB, which take about
  /// a millisecond.
  package static let pieceBytes = 64 << 10

  private var packed: [UInt8] = []
  /// On the heap, for zlib remembers its address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  /// A writer that has packed nothing yet.
  /// - Parameter level: 1, the fastest, to 9, the smallest; another is brought into that range.
  /// - Throws: ``CompressionError/outOfMemory`` when zlib gets no memory (about 256 KiB).
  package init(level: Int = 6) throws(CompressionError) {
    stream.initialize(to: z_stream())
    guard czlib_gzip_init(stream, Int32(min(max(level, 1), 9))) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // Without effect on a stream that was never begun.
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Packs bytes at once.
  /// - Throws: as ``init(level:)``.
  package static func deflate(
    _ bytes: [UInt8], level: Int = 6
  ) throws(CompressionError) -> [UInt8] {
    let writer = try GzipWriter(level: level)
    writer.append(bytes[...])
    return writer.finish()
  }

  /// Packs some more.
  package func append(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty {
      step(rest.prefix(Self.pieceBytes), Z_NO_FLUSH)
      rest = rest.dropFirst(Self.pieceBytes)
    }
  }

  /// Takes what has been packed so far, for who gives it away piece by piece.
  package func takePacked() -> [UInt8] {
    defer { packed = [] }
    return packed
  }

  /// Ends the member. Nothing may be appended afterwards.
  /// - Returns: all of it that was not taken before.
  package func finish() -> [UInt8] {
    step([], Z_FINISH)
    return packed
  }

  /// Gives a piece to zlib and takes what comes out, until there is room left: then there is no more.
  private func step(_ piece: ArraySlice<UInt8>, _ flush: Int32) {
    piece.withUnsafeBufferPointer { input in
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      repeat {
        packed += [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, initialized in
          stream.pointee.next_out = output.baseAddress
          stream.pointee.avail_out = UInt32(Self.pieceBytes)
          // Of a stream that was begun it fails in no way but for want of room.
          _ = CZlib.deflate(stream, flush)
          initialized = Self.pieceBytes - Int(stream.pointee.avail_out)
        }
      } while stream.pointee.avail_out == 0
    }
  }
}
