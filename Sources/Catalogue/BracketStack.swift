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
