/// How much JSON a reader takes before it refuses the text.
///
/// RFC 8259 section 9 lets an implementation set such limits. Each has its own ``JSONError/Code``,
/// so a client learns which one it met.
package struct JSONLimits: Sendable, Equatable {
  /// The longest text, in bytes of UTF-8, white space included. Never more than 256 MiB less one
  /// byte, whatever is set here: what is kept of a text has offsets of 32 bits.
  package var maximumBytes: Int

  /// The deepest nesting, in arrays and objects open at once: `[[1]]` is 2 deep. Never more than
  /// 512, whatever is set here, because reading and writing recurse.
  package var maximumDepth: Int

  /// The most members of one object, in members.
  package var maximumMembers: Int

  /// The longest string or member name, in bytes of UTF-8 once its escapes are resolved.
  package var maximumStringBytes: Int

  /// The most significant digits of one number, counted as written from the first digit that is not
  /// zero (all digits of a zero count). The digits of an exponent have the same limit.
  package var maximumNumberDigits: Int

  /// The largest magnitude of a number's decimal exponent in scientific form: `1234` is 1.234e3, so
  /// its exponent is 3. It holds for the number and, so that nothing hides in a run of zeros, for
  /// its digits without the written exponent. 308 is the last decade that a double covers fully.
  package var maximumExponent: Int

  /// The most values, arrays, objects and what stands in them all counted.
  package var maximumValues: Int

  /// The most values of a text, unless it is said otherwise: 2,000,000.
  package static let standardValues = 2_000_000

  /// Limits with the given sizes; the units are those of the properties.
  package init(
    maximumBytes: Int, maximumDepth: Int = 64, maximumMembers: Int = 10_000,
    maximumStringBytes: Int = 512 * 1024, maximumNumberDigits: Int = 64,
    maximumExponent: Int = 308, maximumValues: Int = standardValues
  ) {
    self.maximumBytes = maximumBytes
    self.maximumDepth = maximumDepth
    self.maximumMembers = maximumMembers
    self.maximumStringBytes = maximumStringBytes
    self.maximumNumberDigits = maximumNumberDigits
    self.maximumExponent = maximumExponent
    self.maximumValues = maximumValues
  }

  /// One document: 1 MiB.
  package static let document = JSONLimits(maximumBytes: 1024 * 1024)

  /// A request that carries many documents: 16 MiB.
  package static let request = JSONLimits(maximumBytes: 16 * 1024 * 1024)

  /// What was stored once, the members that an answer adds included: it was checked when it came, by limits that may
  /// have been other ones.
  package static let stored = JSONLimits(
    maximumBytes: request.maximumBytes, maximumDepth: document.maximumDepth + 2,
    maximumMembers: request.maximumBytes, maximumStringBytes: request.maximumBytes)

  /// A request of a few members, such as a sign-in: 64 KiB.
  package static let small = JSONLimits(maximumBytes: 64 * 1024)
}
