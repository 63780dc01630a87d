import CZlib

@testable import BLIP

/// The sending end of a client that compresses its messages.
struct Deflater: ~Copyable {
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var checksum = RunningChecksum()

  init() throws {
    stream.initialize(to: z_stream())
    guard czlib_raw_deflate_init(stream) == Z_OK else { throw BLIPError.outOfMemory }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// A message as one compressed frame.
  mutating func frame(_ number: UInt64, _ message: BLIPMessage) throws -> [UInt8] {
    let bytes = message.bytes
    var frame: [UInt8] = []
    Varint.append(number, to: &frame)
    frame.append(message.kind.rawValue | 0x08)
    var code = Z_OK
    let packed = bytes.withUnsafeBufferPointer { input in
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      return [UInt8](unsafeUninitializedCapacity: bytes.count + 64) { output, count in
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        code = deflate(stream, Z_SYNC_FLUSH)
        count = output.count - Int(stream.pointee.avail_out)
      }
    }
    guard code == Z_OK, packed.suffix(4) == [0, 0, 0xFF, 0xFF] else { throw BLIPError.outOfMemory }
    frame += packed.dropLast(4)
    checksum.add(bytes)
    for shift in [24, 16, 8, 0] as [UInt32] {
      frame.append(UInt8(truncatingIfNeeded: checksum.value >> shift))
    }
    return frame
  }
}
