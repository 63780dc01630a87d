import Documents

/// `$mod`: an integer that leaves a remainder. As in Erlang and C, the remainder has the integer's
/// sign.
struct SelectorRemainder: Sendable {
  /// The argument as it was written.
  let source: JSONNode
  private let divisor: Int
  private let remainder: Int?

  /// Reads `[divisor, remainder]`; nil unless those are two integers, the divisor not 0 and of 64
  /// bits.
  init?(_ argument: JSONNode) {
    guard argument.kind == .array, argument.count == 2, let divisor = argument[0]?.int,
      divisor != 0, let remainder = argument[1]?.number, remainder.isInteger
    else { return nil }
    source = argument
    self.divisor = divisor
    self.remainder = remainder.int
  }

  /// Whether a number is an integer, of any length, that leaves the remainder.
  func matches(_ number: JSONNumber) -> Bool {
    guard number.isInteger else { return false }
    var rest: UInt128 = 0
    for digit in number.text.utf8 where digit != UInt8(ascii: "-") {
      rest = (rest * 10 + UInt128(digit - UInt8(ascii: "0"))) % UInt128(divisor.magnitude)
    }
    return remainder == (number.isNegative ? -Int(rest) : Int(rest))
  }
}

extension JSONNumber {
  /// Whether the number is written as an integer, without a point or an exponent.
  var isInteger: Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == 0x2D }
  }

  /// Whether the number is written with a minus.
  var isNegative: Bool {
    text.utf8.first == UInt8(ascii: "-")
  }
}
