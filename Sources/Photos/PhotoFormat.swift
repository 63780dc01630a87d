/// What happens to the next bytes of a photo.
enum PhotoStep: Equatable, Sendable {
  /// These are stored before them.
  case write([UInt8])
  /// So many are stored.
  case copy(Int)
  /// So many are left out.
  case skip(Int)
  /// So many are stored as zeros, because what comes behind them has a fixed place.
  case blank(Int)
  /// All others are stored as zeros.
  case blankRest
  /// Those up to the next marker of a JPEG are stored.
  case copyScan
  /// The photo is complete. Whatever comes behind it is left out.
  case end

  /// The rest of a step after some bytes.
  func after(_ bytes: Int) -> PhotoStep {
    switch self {
    case .copy(let count): .copy(count - bytes)
    case .skip(let count): .skip(count - bytes)
    case .blank(let count): .blank(count - bytes)
    default: self
    }
  }
}

/// A format as a sequence of parts, each with a head that says what becomes of the part. A format knows nothing of the
/// pieces in which the bytes arrive.
protocol PhotoFormat: Sendable {
  /// How many bytes the next head has: 1 or more.
  var headBytes: Int { get }
  /// Whether a photo may end before the next head.
  var mayEnd: Bool { get }
  /// What happens to a head, which is not stored by itself, and to the bytes behind it.
  mutating func next(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep]
}

extension PhotoFormat {
  var mayEnd: Bool { false }
}

/// Reads numbers and parts of bytes, within bounds.
struct ByteReader {
  let bytes: ArraySlice<UInt8>
  private(set) var index: Int
  private let isLittleEndian: Bool

  init(_ bytes: ArraySlice<UInt8>, littleEndian: Bool = false) {
    (self.bytes, index, isLittleEndian) = (bytes, bytes.startIndex, littleEndian)
  }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// How many bytes are left.
  var count: Int { bytes.endIndex - index }

  /// The next bytes; nil if there are fewer.
  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= self.count else { return nil }
    defer { index += count }
    return bytes[index..<index + count]
  }

  /// A number without a sign, of at most 8 bytes; nil if it is not there, or exceeds `Int`.
  mutating func number(_ size: Int) -> Int? {
    guard size <= 8, let bytes = take(size) else { return nil }
    let digits = isLittleEndian ? Array(bytes.reversed()) : Array(bytes)
    return Int(exactly: digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// Four characters.
  mutating func name() -> String? { take(4).map { String(decoding: $0, as: UTF8.self) } }
}

/// A number as bytes, the highest first.
func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
  (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
}
