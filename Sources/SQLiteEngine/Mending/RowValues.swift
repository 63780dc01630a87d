import Lanes
import SQLite

/// A row's values as the file has them, valid or not, and the checksum that they had when they were written: enough
/// to find out which byte has turned since.
///
/// One byte among a kilobyte can be wrong in some 260,000 ways, each of which is tried: the one that has the right
/// checksum is what was written, but for a chance of 2⁻⁴⁶.
struct RowValues {
  /// A value, in the order in which the checksum goes over them.
  enum Value: Equatable {
    case integer(Int64)
    case optionalInteger(Int64?)
    case text([UInt8])
    case optionalText([UInt8]?)
  }

  /// Bytes that one search hashes at most: 512 MiB take half a second. Beyond a kilobyte that is single bits only,
  /// beyond 8 KiB nothing.
  private static let budget = 512 << 20

  /// The kind of row.
  let kind: Checksum.Kind
  /// What stands before the content.
  var values: [Value]
  /// Body or tree; empty for a row without.
  var content: [UInt8] = []
  /// What the row must add up to.
  var checksum: Int64

  /// Whether they are what was written.
  var isSound: Bool { Checksum.value(of: written.bytes, over: content) == checksum }

  /// The row as it was written, if one byte of it has turned; nil where more have, or it is too long to be searched.
  /// - Parameter isKnown: whether only the content can be wrong.
  func mended(onlyContent isKnown: Bool = false) -> RowValues? {
    LanePool.blocking {
      if !isKnown, let row = withChecksumMended ?? withValuesMended { return row }
      return withContentMended
    }
  }

  /// The bytes before the content, and where the values begin in them.
  private var written: (bytes: [UInt8], places: [Int]) {
    var sum = Checksum(kind)
    var places: [Int] = []
    for value in values {
      switch value {
      case .integer(let number):
        places.append(sum.count)
        sum.append(number)
      case .optionalInteger(let number):
        places.append(sum.count + 1)
        sum.append(number)
      case .text(let bytes):
        places.append(sum.count + 8)
        sum.append(bytes: bytes)
      case .optionalText(let bytes):
        places.append(sum.count + 9)
        sum.append(optionalBytes: bytes)
      }
    }
    return (sum.bytes, places)
  }

  /// The same values, if it is the checksum in which a byte has turned.
  private var withChecksumMended: RowValues? {
    let right = Checksum.value(of: written.bytes, over: content)
    let difference = UInt64(bitPattern: right ^ checksum)
    guard (0..<8).contains(where: { difference & ~(0xFF << (UInt64($0) * 8)) == 0 }) else {
      return nil
    }
    var row = self
    row.checksum = right
    return row
  }

  private var withValuesMended: RowValues? {
    var (bytes, places) = written
    let length = bytes.count + content.count
    // Integers have at most 24 bytes in all of their widths, each with 255 other values.
    let trials = values.reduce(0) { sum, value in
      switch value {
      case .integer, .optionalInteger: sum + 24 * 255
      case .text(let text): sum + 255 * text.count
      case .optionalText(let text): sum + 255 * (text?.count ?? 0)
      }
    }
    guard Self.isAffordable(trials, of: length) else { return nil }
    for (index, value) in values.enumerated() {
      let place = places[index]
      switch value {
      case .integer(let number), .optionalInteger(.some(let number)):
        for candidate in Self.turned(number) {
          Self.put(candidate, at: place, in: &bytes)
          guard Checksum.value(of: bytes, over: content) == checksum else { continue }
          var row = self
          if case .integer = value {
            row.values[index] = .integer(candidate)
          } else {
            row.values[index] = .optionalInteger(candidate)
          }
          return row
        }
        Self.put(number, at: place, in: &bytes)
      case .text(var text), .optionalText(.some(var text)):
        for offset in text.indices {
          for mask in UInt8(1)...255 {
            bytes[place + offset] = text[offset] ^ mask
            guard Checksum.value(of: bytes, over: content) == checksum else { continue }
            text[offset] ^= mask
            var row = self
            if case .text = value {
              row.values[index] = .text(text)
            } else {
              row.values[index] = .optionalText(text)
            }
            return row
          }
          bytes[place + offset] = text[offset]
        }
      case .optionalInteger(nil), .optionalText(nil): break
      }
    }
    return nil
  }

  private var withContentMended: RowValues? {
    let bytes = written.bytes
    let bits = (0..<8).map { UInt8(1) << UInt8($0) }
    let others = (UInt8(1)...255).filter { $0.nonzeroBitCount > 1 }
    var content = content
    for masks in [bits, others] {
      let trials = masks.count * content.count
      guard Self.isAffordable(trials, of: bytes.count + content.count) else { return nil }
      for place in content.indices {
        let found = content[place]
        for mask in masks {
          content[place] = found ^ mask
          guard Checksum.value(of: bytes, over: content) == checksum else { continue }
          var row = self
          row.content = content
          return row
        }
        content[place] = found
      }
    }
    return nil
  }

  private static func isAffordable(_ trials: Int, of length: Int) -> Bool {
    let (work, overflows) = trials.multipliedReportingOverflow(by: length)
    return !overflows && work <= budget
  }

  /// What an integer may have been before a byte of it turned: SQLite stores as many bytes as it needs, and the first
  /// one's sign is that of the whole. <https://sqlite.org/fileformat2.html#record_format>
  private static func turned(_ value: Int64) -> [Int64] {
    var candidates: [Int64] = []
    for width in [1, 2, 3, 4, 6, 8] as [Int64] {
      let shift = 64 - 8 * width
      guard (value << shift) >> shift == value else { continue }
      for byte in 0..<width {
        for mask in Int64(1)...255 {
          candidates.append(((value ^ (mask << (8 * byte))) << shift) >> shift)
        }
      }
    }
    return candidates
  }

  private static func put(_ value: Int64, at place: Int, in bytes: inout [UInt8]) {
    for byte in 0..<8 {
      bytes[place + byte] = UInt8(truncatingIfNeeded: value >> Int64(56 - 8 * byte))
    }
  }
}
