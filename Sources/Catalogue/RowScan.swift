/// Follows one row byte by byte and says where it ends; see ``RowSplitter``.
struct RowScan {
  /// What a byte is to the row.
  enum Step: Equatable {
    /// It belongs to the row, which goes on.
    case inside
    /// It is the row's last.
    case endsWith
    /// It follows the row's last: the comma or the bracket after an element.
    case endsBefore
    /// It can't belong to the row.
    case breaks(Break)
  }

  /// Why a byte can't belong to the row.
  enum Break: Equatable {
    /// It starts the next object, though the row has not ended.
    case noEnd
    /// It closes what is not open.
    case bracket
    /// It ends the line inside a string.
    case string

    /// What the one who imports is told.
    var sentence: String {
      switch self {
      case .noEnd: "The row has no end."
      case .bracket: "A bracket does not fit."
      case .string: "The line ends inside a string."
      }
    }
  }

  private let isElement: Bool
  private var brackets = BracketStack()
  private var isInString = false
  private var isEscaped = false
  /// The latest byte outside strings that is no white space.
  private var previous: UInt8 = 0

  /// The scan of a row that starts at the next byte: an array's element, of any kind, or an object.
  init(isElement: Bool) {
    self.isElement = isElement
  }

  /// Whether only a byte that ``endsPlainText(_:)`` can change anything.
  var isInPlainText: Bool { isInString && !isEscaped }

  /// Whether a byte in a string is more than a part of it.
  @inline(__always)
  static func endsPlainText(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x0A
  }

  /// Whether a byte is one of the four that may stand between tokens (RFC 8259 section 2).
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// Takes the next byte.
  mutating func step(_ byte: UInt8, isAtLineStart: Bool) -> Step {
    if isInString { return stepInString(byte) }
    guard !Self.isSpace(byte) else { return .inside }
    defer { previous = byte }
    switch byte {
    case UInt8(ascii: "\""):
      isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      if isAtLineStart, isNextObject(byte) { return .breaks(.noEnd) }
      brackets.open(byte)
    case UInt8(ascii: "]") where isElement && brackets.isEmpty:
      return .endsBefore
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard brackets.close(byte) else { return .breaks(.bracket) }
      if !isElement, brackets.isEmpty { return .endsWith }
    case UInt8(ascii: ",") where isElement && brackets.isEmpty:
      return .endsBefore
    default:
      break
    }
    return .inside
  }

  private mutating func stepInString(_ byte: UInt8) -> Step {
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      previous = byte
    } else if byte == 0x0A, !isElement {
      return .breaks(.string)
    }
    return .inside
  }

  /// Whether a `{` that starts a line can only be the next row: JSON allows an object after `:`, after
  /// `[` and, in an array, after a comma.
  private func isNextObject(_ byte: UInt8) -> Bool {
    guard !isElement, byte == UInt8(ascii: "{"), !brackets.isEmpty else { return false }
    switch previous {
    case UInt8(ascii: ":"), UInt8(ascii: "["): return false
    case UInt8(ascii: ","): return brackets.innermost != UInt8(ascii: "[")
    default: return true
    }
  }
}

/// The brackets that are open in a row. It stays small however deep the row nests: below
/// ``maximumDepth`` brackets are only counted, as the parser refuses such a row anyway.
struct BracketStack {
  /// How many brackets are told apart: as deep as the parser goes.
  static let maximumDepth = 64

  private var brackets: [UInt8] = []
  private var deeper = 0

  /// Whether none is open.
  var isEmpty: Bool { brackets.isEmpty }

  /// The one opened last, `{` or `[`; nil where they are only counted, or none is open.
  var innermost: UInt8? { deeper == 0 ? brackets.last : nil }

  /// Opens `{` or `[`.
  mutating func open(_ bracket: UInt8) {
    if brackets.count < Self.maximumDepth { brackets.append(bracket) } else { deeper &+= 1 }
  }

  /// Closes with `}` or `]`; false if that does not fit the one opened last.
  mutating func close(_ bracket: UInt8) -> Bool {
    if deeper > 0 {
      deeper &-= 1
      return true
    }
    let opening = bracket == UInt8(ascii: "}") ? UInt8(ascii: "{") : UInt8(ascii: "[")
    return brackets.popLast() == opening
  }
}
