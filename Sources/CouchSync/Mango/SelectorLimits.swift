/// How much selector a query may carry.
package enum SelectorLimits {
  /// The deepest nesting: operators and fields around a condition, itself included.
  package static let depth = 16
  /// Operators and fields, and values in place of one.
  package static let nodes = 128
  /// Values in all lists of `$in`, `$nin` and `$all`.
  package static let values = 10_000
  /// UTF-16 units of all regular expressions: what they are compiled to takes 1,000 times as much
  /// memory at worst, and a fifth of a second.
  package static let patternUnits = 1_024
  /// Milliseconds of matching that a whole query may take.
  package static let matchingMilliseconds = 5_000
  /// Milliseconds that one regular expression may take in one text.
  package static let patternMilliseconds = 50
}
