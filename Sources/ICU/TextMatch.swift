/// What looking for a pattern in a text gave.
package enum TextMatch: Sendable, Equatable {
  /// The pattern occurs.
  case matched
  /// It does not.
  case notMatched
  /// The time, the memory or the text's length was beyond what a match may take; nothing is known.
  case tooCostly
}
