/// A password or a token, protected against accidental disclosure. It prints as `•••` wherever it is interpolated,
/// dumped or reflected. The time of a comparison does not reveal where two secrets differ.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let text: String

  package init(_ text: String) { self.text = text }

  /// The text. Only for the code that hashes it or returns it to its owner.
  package var exposed: String { text }

  package var byteCount: Int { text.utf8.count }

  /// Compares all bytes, also after a difference.
  package static func == (left: Secret, right: Secret) -> Bool {
    constantTimeEqual(Array(left.text.utf8), Array(right.text.utf8))
  }

  package var description: String { "•••" }
  package var debugDescription: String { "•••" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }

  /// Whether two byte strings are equal, in a time that depends on their lengths alone.
  static func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(left, right) { difference |= one ^ other }
    return difference == 0
  }
}
