import CZlib

/// Unpacks gzip, piece by piece: RFC 1952, by zlib. All members of a file are unpacked, one after the other, as
/// section 2.2 has them. The packed bytes are there from the start, or come in pieces (``append(_:)``).
package final class GzipReader {
  /// Bytes that are unpacked at a time, at most: 64 KiB.
  package static let pieceBytes = 64 << 10

  /// What has been unpacked and was not taken.
  package private(set) var unpacked: [UInt8] = []
  /// Whether the packed bytes end here with a whole member.
  package private(set) var isComplete = false
  /// Whether a member goes on after all bytes that were appended.
  package private(set) var needsBytes = false
  /// The bytes that may come out in all. It may grow with the packed bytes.
  package var limit: Int

  private var packed: [UInt8]
  /// Whether ``append(_:)`` brings the packed bytes.
  private let isStream: Bool
  /// Unpacked bytes that were taken.
  private var taken = 0
  /// How much of the packed bytes is used up.
  private var offset = 0
  /// On the heap, for zlib remembers its address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  /// A reader that has read nothing yet.
  /// - Parameter limit: the bytes that may come out. Unpacking stops there, however much more there were.
  /// - Throws: ``CompressionError/outOfMemory``; ``CompressionError/tooLarge`` for a limit below zero or 4 GiB of
  ///   packed bytes.
  package convenience init(_ packed: [UInt8], limit: Int) throws(CompressionError) {
    try self.init(packed, limit: limit, isStream: false)
  }

  /// A reader of bytes that come in pieces.
  /// - Throws: ``CompressionError/outOfMemory``.
  package convenience init() throws(CompressionError) {
    try self.init([], limit: 0, isStream: true)
    needsBytes = true
  }

  private init(_ packed: [UInt8], limit: Int, isStream: Bool) throws(CompressionError) {
    self.packed = packed
    self.limit = limit
    self.isStream = isStream
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

  /// Takes the next packed bytes of a stream, once those before are used up.
  /// - Throws: ``CompressionError/tooLarge`` for 4 GiB in one piece; ``CompressionError/malformed``.
  package func append(_ bytes: [UInt8]) throws(CompressionError) {
    guard !bytes.isEmpty else { return }
    let all = Array(packed.dropFirst(offset)) + bytes
    guard all.count <= Int(UInt32.max) else { throw .tooLarge }
    (packed, offset, needsBytes) = (all, 0, false)
    guard isComplete else { return }
    isComplete = false
    guard inflateReset(stream) == Z_OK else { throw .malformed }
  }

  /// Takes what has been unpacked so far.
  package func takeUnpacked() -> [UInt8] {
    defer { unpacked = [] }
    taken += unpacked.count
    return unpacked
  }

  /// Unpacks some more; nothing once it is complete or needs more bytes.
  /// - Throws: ``CompressionError/malformed`` for a truncated or damaged member, a wrong check sum, anything after
  ///   the last member, and for no member at all; ``CompressionError/tooLarge`` past the limit.
  package func unpackPiece() throws(CompressionError) {
    guard !isComplete, !needsBytes else { return }
    let code = step()
    switch code {
    case Z_BUF_ERROR where isStream && offset == packed.count: needsBytes = true
    case Z_STREAM_END, Z_OK:
      guard taken + unpacked.count <= limit else { throw .tooLarge }
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
    let left = max(limit - taken - unpacked.count, 0)
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
