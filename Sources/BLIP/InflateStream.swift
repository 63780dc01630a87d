import CZlib

/// Inflates the compressed frames of one direction: one stream of deflate (RFC 1951) without a header.
///
/// The sender flushes the stream at the end of each frame and leaves the last four bytes of the flush out.
final class InflateStream {
  /// What each flush ends with: an empty stored block.
  private static let flush: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
  /// The bytes that are inflated at once.
  private static let pieceBytes = 32 << 10

  /// On the heap, because zlib stores its address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  /// - Throws: `outOfMemory`.
  init() throws(BLIPError) {
    stream.initialize(to: z_stream())
    guard czlib_raw_inflate_init(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // Has no effect on a stream that was not initialised.
    inflateEnd(stream)
    stream.deallocate()
  }

  /// The payload of one frame that is being inflated.
  struct Frame {
    private let packed: ArraySlice<UInt8>
    private let limit: Int
    private var (offset, count) = (0, 0)

    /// - Parameter limit: the most inflated bytes.
    init(_ payload: ArraySlice<UInt8>, limit: Int) {
      (packed, self.limit) = (payload + InflateStream.flush, limit)
    }

    /// Inflates the next bytes of the frame, at most 32 KiB.
    /// - Returns: the bytes, and whether they are the last ones.
    /// - Throws: `malformed`, `tooLarge`, `outOfMemory`. The stream can't be used any more then.
    mutating func next(in stream: InflateStream) throws(BLIPError) -> (bytes: [UInt8], isLast: Bool)
    {
      let piece = stream.piece(of: packed, from: &offset)
      count += piece.bytes.count
      guard count <= limit else { throw .tooLarge("A frame has too many bytes") }
      switch piece.code {
      case Z_OK where piece.bytes.count == InflateStream.pieceBytes: return (piece.bytes, false)
      // There was nothing left to inflate.
      case Z_OK where offset == packed.count, Z_BUF_ERROR where offset == packed.count:
        return (piece.bytes, true)
      case Z_MEM_ERROR: throw .outOfMemory
      default: throw .malformed("A frame can't be inflated")
      }
    }
  }

  private func piece(
    of packed: ArraySlice<UInt8>, from offset: inout Int
  ) -> (code: Int32, bytes: [UInt8]) {
    var code = Z_OK
    let bytes = packed.withUnsafeBufferPointer { input in
      stream.pointee.next_in = input.baseAddress.map { UnsafeMutablePointer(mutating: $0 + offset) }
      stream.pointee.avail_in = UInt32(input.count - offset)
      return [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { bytes, initialized in
        stream.pointee.next_out = bytes.baseAddress
        stream.pointee.avail_out = UInt32(Self.pieceBytes)
        code = CZlib.inflate(stream, Z_SYNC_FLUSH)
        initialized = Self.pieceBytes - Int(stream.pointee.avail_out)
      }
    }
    offset = packed.count - Int(stream.pointee.avail_in)
    return (code, bytes)
  }
}

/// The checksum of what one direction has carried so far.
struct RunningChecksum {
  /// The CRC-32 of zlib.
  private(set) var value: UInt32 = 0

  mutating func add(_ bytes: some Collection<UInt8>) {
    let result: UInt32? = bytes.withContiguousStorageIfAvailable { buffer in
      UInt32(truncatingIfNeeded: crc32(UInt(value), buffer.baseAddress, UInt32(buffer.count)))
    }
    if let result { value = result }
  }
}
