import CICU

/// A regular expression with look-around and properties of characters, as JavaScript has it too, by ICU: so the server and
/// a device read searches by one rule. Patterns are the program's own; the texts are short.
///
/// Source: <https://unicode-org.github.io/icu/userguide/strings/regexp.html>.
///
/// `@unchecked Sendable`: the compiled pattern never changes, and each use clones it, as ICU's reference says for several
/// threads (`uregex_clone`). Only `deinit` changes it.
package final class TextPattern: @unchecked Sendable {
  /// The most matches of one text that are looked for.
  private static let mostMatches = 512
  /// The limit of one text, in ICU's steps of at most a millisecond. What people type takes up to five; a text of hundreds of
  /// numbers reaches it, and is read as if it had no match.
  private static let steps: Int32 = 20

  private let compiled: OpaquePointer
  private let groups: Int

  /// A match of a text.
  package struct Match: Sendable {
    /// The text that matches, and what stands before and after it.
    package let text, before, after: String
    /// The parts of the text in the groups of the pattern; nil for a group without one.
    package let groups: [String?]
  }

  /// Compiles a pattern; nil for one that is none.
  /// - Parameter ignoresCase: whether the case of letters does not count.
  package init?(_ pattern: String, ignoresCase: Bool = true) {
    let units = Array(pattern.utf16)
    var status: Int32 = 0
    guard
      let compiled = cicu_pattern_open(
        units, Int32(clamping: units.count), ignoresCase ? 1 : 0, &status)
    else { return nil }
    self.compiled = compiled
    groups = Int(cicu_pattern_groups(compiled))
  }

  deinit { cicu_pattern_close(compiled) }

  /// The matches in a text, which do not overlap; none if ICU fails.
  package func matches(in text: String) -> [Match] {
    let units = Array(text.utf16)
    func part(_ range: Range<Int>) -> String { String(decoding: units[range], as: UTF16.self) }
    return ranges(in: units).compactMap { ranges in
      guard let whole = ranges.first ?? nil else { return nil }
      return Match(
        text: part(whole), before: part(0..<whole.lowerBound),
        after: part(whole.upperBound..<units.count),
        groups: ranges.dropFirst().map { range in range.map(part) })
    }
  }

  /// The text with another one for each match, in which `$1` is what is in the match's first group.
  package func replaced(in text: String, by other: String) -> String {
    let units = Array(text.utf16)
    var (rest, end) = ([UInt16](), 0)
    for found in ranges(in: units) {
      guard let match = found.first ?? nil else { continue }
      let group = found.dropFirst().first.flatMap(\.self).map { units[$0] } ?? []
      let own = other.replacing("$1", with: String(decoding: group, as: UTF16.self))
      rest += units[end..<match.lowerBound] + Array(own.utf16)
      end = match.upperBound
    }
    return end == 0 ? text : String(decoding: rest + units[end...], as: UTF16.self)
  }

  /// Where each match and each of its groups is.
  private func ranges(in units: [UInt16]) -> [[Range<Int>?]] {
    let size = 2 * (groups + 1)
    var numbers = [Int32](repeating: 0, count: size * Self.mostMatches)
    var status: Int32 = 0
    let count = cicu_pattern_find(
      compiled, units, Int32(clamping: units.count), Self.steps, &numbers,
      Int32(clamping: numbers.count), &status)
    guard status <= 0 else { return [] }
    return stride(from: 0, to: Int(count) - size + 1, by: size).map { first in
      (0...groups).map { group in
        let (start, end) = (Int(numbers[first + 2 * group]), Int(numbers[first + 2 * group + 1]))
        return 0 <= start && start <= end && end <= units.count ? start..<end : nil
      }
    }
  }
}
