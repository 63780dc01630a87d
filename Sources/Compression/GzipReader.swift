import CZlib

/// Unpacks gzip, piece by piece: RFC 1952, by zlib. All members of a file are unpacked, one after the other, as
/// section 2.2 has them.
package final class GzipReader {
  /// Bytes that are unpacked at a time, at most: 64 KiB.
  package static let pieceBytes = 64 << 10

  /// What has been unpacked.
  package private(set) var unpacked: [UInt8] = []
  /// Whether that is all.
  package private(set) var isComplete = false

  private let packed: [UInt8]
  private let limit: Int
  /// How much of the packed bytes is used up.
  private var offset = 0
  /// On the heap, for zlib remembers its address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  /// A reader that has read nothing yet.
  /// - Parameter limit: the bytes that may come out. Unpacking stops there, however much more there were.
  /// - Throws: ``CompressionError/outOfMemory``; ``CompressionError/tooLarge`` for a limit below zero or 4 GiB of
  ///   packed bytes.
  package init(_ packed: [UInt8], limit: Int) throws(CompressionError) {
    self.packed = packed
    self.limit = limit
    stream.initialize(to: z_stream())
    guard limit >= 0, packed.count <= Int(UInt32.max) else { throw .tooLarge }
    guard czlib_gunzip_init(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // Without effect on a stream that was never begun.
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Unpacks all at once.
  /// - Throws: as ``init(_:limit:)`` and ``unpackPiece()``.
  package static func inflate(
    _ packed: [UInt8], limit: Int
  ) throws(CompressionError) -> [UInt8] {
    let reader = try GzipReader(packed, limit: limit)
    while !reader.isComplete { try reader.unpackPiece() }
    return reader.unpacked
  }

  /// Takes room, so that what is unpacked is not moved until it is longer.
  package func reserve(_ bytes: Int) { unpacked.reserveCapacity(bytes) }

  /// Unpacks some more; nothing once it is complete.
  /// - Throws: ``CompressionError/malformed`` for a truncated or damaged member, a wrong check sum, anything after
  ///   the last member, and for no member at all; ``CompressionError/tooLarge`` past the limit.
  package func unpackPiece() throws(CompressionError) {
    guard !isComplete else { return }
    let code = step()
    switch code {
    case Z_STREAM_END, Z_OK:
      guard unpacked.count <= limit else { throw .tooLarge }
      guard code == Z_STREAM_END else { return }
      isComplete = offset == packed.count
      guard isComplete || inflateReset(stream) == Z_OK else { throw .malformed }
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw .malformed
    }
  }

  /// Unpacks into a piece of room, or one byte more than the limit leaves, which tells a text of exactly the limit
  /// from a longer one.
  private func step() -> Int32 {
    let left = limit - unpacked.count
    let room = left < Self.pieceBytes ? left + 1 : Self.pieceBytes
    var code = Z_OK
    let piece = packed.withUnsafeBufferPointer { input in
      stream.pointee.next_in = input.baseAddress.map { UnsafeMutablePointer(mutating: $0 + offset) }
      stream.pointee.avail_in = UInt32(input.count - offset)
      return [UInt8](unsafeUninitializedCapacity: room) { bytes, initialized in
        stream.pointee.next_out = bytes.baseAddress
        stream.pointee.avail_out = UInt32(room)
        code = CZlib.inflate(stream, Z_NO_FLUSH)
        initialized = room - Int(stream.pointee.avail_out)
      }
    }
    offset = packed.count - Int(stream.pointee.avail_in)
    unpacked += piece
    return code
  }
}

/// Why bytes could not be unpacked.
package enum CompressionError: Error, Sendable, Equatable {
  /// They are not whole, sound members of the gzip format, and nothing else.
  case malformed
  /// They unpack to more than is wanted.
  case tooLarge
  /// The memory for the work could not be had.
  case outOfMemory
}
