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
