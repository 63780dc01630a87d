import RegularExpressions

/// How much selector a query may carry.
package enum SelectorLimits {
  /// The deepest nesting: operators and fields around a condition, itself included.
  package static let depth = 16
  /// Operators and fields, and values in place of one.
  package static let nodes = 128
  /// Values in all lists of `$in`, `$nin` and `$all`.
  package static let values = 10_000
  /// UTF-16 units of all regular expressions.
  package static let patternUnits = 1_024
  /// Instructions of all regular expressions' programs, as they are estimated before they are compiled:
  /// compiling takes some milliseconds at most.
  package static let patternInstructions = RegularExpression.programSize
  /// Bytes of memory for all regular expressions, which they have in equal parts: their programs, and
  /// the states of their automata.
  package static let patternMemoryBytes = RegularExpression.memoryBytes
  /// Milliseconds of matching that a whole query may take.
  package static let matchingMilliseconds = 5_000
  /// Milliseconds that one regular expression may take in one text.
  package static let patternMilliseconds = 50
}
