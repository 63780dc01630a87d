import CICU

/// A regular expression in ICU's syntax, which is Perl's but for a few constructs.
///
/// Source: <https://unicode-org.github.io/icu/userguide/strings/regexp.html>. As in Perl and PCRE
/// only `\n` ends a line for `.`, `^` and `$`.
///
/// `@unchecked Sendable`: what is opened here is compiled once and never matched or changed; each
/// match runs on a clone with a text and a state of its own, which is what ICU's `uregex_clone` is
/// for, and the compiled pattern that the clones share is counted by atomic operations. Only
/// `deinit` changes it.
package final class TextPattern: @unchecked Sendable {
  /// Memory that a match may keep to come back to, in bytes: 4 MiB, half of ICU's default.
  package static let stackBytes = 4 << 20
  /// The longest text in which a pattern with a back-reference is looked for, in UTF-16 units:
  /// 4,096. Such a comparison can be as long as the text, and ICU looks at the clock every 10,000
  /// of its steps.
  package static let referenceUnits = 4_096

  private let compiled: OpaquePointer
  private let hasReference: Bool

  /// Compiles a pattern; nil for one that is malformed or too big for ICU.
  package init?(_ pattern: String) {
    // ICU takes no empty pattern.
    let units = Array((pattern.isEmpty ? "(?:)" : pattern).utf16)
    var status: Int32 = 0
    let opened = cicu_pattern_open(units, Int32(clamping: units.count), &status)
    guard let opened, status <= 0 else {
      if let opened { cicu_pattern_close(opened) }
      return nil
    }
    compiled = opened
    hasReference = Self.mayRefer(units)
  }

  deinit {
    cicu_pattern_close(compiled)
  }

  /// Whether the pattern occurs anywhere in a text, found out within a time of this thread's running.
  package func matches(_ text: String, within limit: Duration) -> TextMatch {
    let units = Array(text.utf16)
    guard !hasReference || units.count <= Self.referenceUnits else { return .tooCostly }
    var status: Int32 = 0
    guard let clone = cicu_pattern_clone(compiled, &status), status <= 0 else { return .tooCostly }
    defer { cicu_pattern_close(clone) }
    let end = ThreadTime.now + limit
    let found = withUnsafePointer(to: end) { end in
      cicu_pattern_find(
        clone, units, Int32(clamping: units.count), Int32(clamping: Self.stackBytes), Self.goesOn,
        end, &status)
    }
    guard status <= 0 else { return .tooCostly }
    return found != 0 ? .matched : .notMatched
  }

  /// Asked by ICU every 10,000 steps of a match.
  private static let goesOn: @convention(c) (UnsafeRawPointer?, Int32) -> Int8 = { end, _ in
    guard let end else { return 0 }
    return ThreadTime.now < end.load(as: Duration.self) ? 1 : 0
  }

  /// Whether the pattern may hold a back-reference, `\1` or `\k<name>`. Says yes too often, never
  /// too seldom: it looks at pairs of characters, whatever stands around them.
  private static func mayRefer(_ pattern: [UInt16]) -> Bool {
    let backslash: UInt16 = 0x5C
    return zip(pattern, pattern.dropFirst()).contains { first, second in
      first == backslash && ((0x31...0x39).contains(second) || second == 0x6B)
    }
  }
}
