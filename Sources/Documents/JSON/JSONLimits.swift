/// The limits of a JSON text. A reader refuses a text that exceeds one.
///
/// RFC 8259 section 9 allows an implementation to set such limits. Each limit has its own ``JSONError/Code``, except
/// that the two limits of numbers share one, so a client learns which limit its text exceeds.
package struct JSONLimits: Sendable, Equatable {
  /// The longest text, in bytes of UTF-8, white space included. Never more than 256 MiB less one byte, whatever is set
  /// here: nodes store offsets in 32 bits.
  package var maximumBytes: Int

  /// The deepest nesting, in arrays and objects that are open at once: `[[1]]` is 2 deep. Never more than 512, whatever
  /// is set here, because writing is recursive.
  package var maximumDepth: Int

  /// The most members of one object.
  package var maximumMembers = 10_000

  /// The longest string or member name, in bytes of UTF-8 with escapes resolved.
  package var maximumStringBytes = 512 * 1024

  /// The most significant digits of one number, counted as written from the first digit that is not zero (all digits of
  /// a zero count). The digits of an exponent have the same limit.
  package var maximumNumberDigits = 64

  /// A number's decimal exponent in scientific form: `1234` is 1.234e3, so its exponent is 3. The limit applies to the
  /// number and also to its digits without the written exponent, so that a long run of zeros can't evade it. They are the
  /// decades in which there are doubles; the least, 5e-324, are subnormal.
  package static let exponents = -324...308

  /// Whether a number has to be one that a double can hold: not above the greatest, 1.8e308, and not so small that it would
  /// become 0. JavaScript's clients could not keep others.
  package var needsDouble = true

  /// The most values; arrays, objects and the values in them all count.
  package var maximumValues = JSONLimits.standardValues

  /// The default for the most values of a text: 2,000,000.
  package static let standardValues = 2_000_000

  package init(maximumBytes: Int, maximumDepth: Int = 64) {
    (self.maximumBytes, self.maximumDepth) = (maximumBytes, maximumDepth)
  }

  /// The limits of documents that were checked when they were stored, possibly with other limits: of their objects,
  /// strings and numbers, only the length counts.
  package static func checked(maximumBytes: Int, maximumDepth: Int) -> JSONLimits {
    var limits = JSONLimits(maximumBytes: maximumBytes, maximumDepth: maximumDepth)
    (limits.maximumMembers, limits.maximumStringBytes) = (maximumBytes, maximumBytes)
    limits.needsDouble = false
    return limits
  }

  /// The limits of one document: 1 MiB.
  package static let document = JSONLimits(maximumBytes: 1024 * 1024)

  /// The limits of a request that carries many documents: 16 MiB.
  package static let request = JSONLimits(maximumBytes: 16 * 1024 * 1024)

  /// The limits of a stored document with the members that an answer adds.
  package static let stored = checked(
    maximumBytes: request.maximumBytes, maximumDepth: document.maximumDepth + 2)

  /// The limits of a request of a few members, such as a sign-in: 64 KiB.
  package static let small = JSONLimits(maximumBytes: 64 * 1024)
}
