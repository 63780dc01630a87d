import CZlib
import Scheduling

/// Decompresses gzip (RFC 1952) in pieces, with zlib. All members of a file are decompressed one after the other, as
/// section 2.2 defines. The compressed bytes are given at the start, or in pieces (``append(_:)``).
package final class GzipReader {
  /// The most bytes that are decompressed at once: 64 KiB.
  package static let pieceBytes = 64 << 10

  /// The decompressed bytes that were not taken yet.
  package private(set) var unpacked: [UInt8] = []
  /// Whether the compressed bytes end here with a complete member.
  package private(set) var isComplete = false
  /// Whether a member continues after all bytes that were appended.
  package private(set) var needsBytes = false
  /// The most decompressed bytes in total. A stream's limit may grow with its compressed bytes.
  package var limit: Int

  private var packed: [UInt8]
  /// Whether the compressed bytes come by ``append(_:)``.
  private let isStream: Bool
  /// How many decompressed bytes were taken.
  private var taken = 0
  /// How many compressed bytes of ``packed`` have been read.
  private var offset = 0
  /// On the heap, because zlib stores its address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  /// Makes a reader.
  /// - Parameter packed: the compressed bytes; nil if they come in pieces (``append(_:)``).
  /// - Parameter limit: the most decompressed bytes. Decompressing stops there.
  /// - Throws: ``CompressionError/outOfMemory``; ``CompressionError/tooLarge`` for a negative limit, or for 4 GiB of
  ///   compressed bytes or more.
  package init(_ packed: [UInt8]? = nil, limit: Int = 0) throws(CompressionError) {
    self.packed = packed ?? []
    self.limit = limit
    isStream = packed == nil
    needsBytes = isStream
    stream.initialize(to: z_stream())
    guard limit >= 0, self.packed.count <= Int(UInt32.max) else { throw .tooLarge }
    guard czlib_gunzip_init(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // Has no effect on a stream that was not initialised.
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Decompresses everything at once.
  /// - Throws: the errors of ``init(_:limit:)`` and ``unpackPiece()``.
  package static func inflate(_ packed: [UInt8], limit: Int) throws(CompressionError) -> [UInt8] {
    let reader = try GzipReader(packed, limit: limit)
    while !reader.isComplete { try reader.unpackPiece() }
    return reader.unpacked
  }

  /// Reserves capacity, so that the decompressed bytes are not moved while they grow.
  package func reserve(_ bytes: Int) { unpacked.reserveCapacity(bytes) }

  /// Appends the next compressed bytes of a stream.
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

  /// Takes the decompressed bytes so far.
  package func takeUnpacked() -> [UInt8] {
    defer { unpacked = [] }
    taken += unpacked.count
    return unpacked
  }

  /// The next decompressed bytes of a stream; nil when it needs more compressed bytes, or has none left. Gives way
  /// between pieces.
  /// - Throws: the errors of ``unpackPiece()``.
  package func next() async throws -> [UInt8]? {
    while !isComplete, !needsBytes {
      try await Slice.giveWay()
      try unpackPiece()
      let bytes = takeUnpacked()
      if !bytes.isEmpty { return bytes }
    }
    return nil
  }

  /// Decompresses one more piece; does nothing once it is complete or needs more bytes.
  /// - Throws: ``CompressionError/malformed`` for a truncated or damaged member, a wrong checksum, other bytes after
  ///   the last member, and when there is no member; ``CompressionError/tooLarge`` beyond the limit;
  ///   ``CompressionError/outOfMemory``.
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

  /// Decompresses up to one piece, but at most one byte more than the limit allows. This byte distinguishes a text of
  /// exactly the limit from a longer one.
  private func step() -> Int32 {
    let left = max(limit - taken - unpacked.count, 0)
    let capacity = left < Self.pieceBytes ? left + 1 : Self.pieceBytes
    var code = Z_OK
    let piece = packed.withUnsafeBufferPointer { input in
      stream.pointee.next_in = input.baseAddress.map { UnsafeMutablePointer(mutating: $0 + offset) }
      stream.pointee.avail_in = UInt32(input.count - offset)
      return [UInt8](unsafeUninitializedCapacity: capacity) { bytes, initialized in
        stream.pointee.next_out = bytes.baseAddress
        stream.pointee.avail_out = UInt32(capacity)
        code = CZlib.inflate(stream, Z_NO_FLUSH)
        initialized = capacity - Int(stream.pointee.avail_out)
      }
    }
    offset = packed.count - Int(stream.pointee.avail_in)
    unpacked += piece
    return code
  }
}

/// Why bytes could not be decompressed.
package enum CompressionError: Error, Sendable, Equatable {
  /// They are not complete and undamaged members of the gzip format.
  case malformed
  /// They decompress to more bytes than the limit allows.
  case tooLarge
  /// There is not enough memory.
  case outOfMemory
}
