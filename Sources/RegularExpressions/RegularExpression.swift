import CRE2
import Glibc

/// A regular expression in RE2's syntax, which is Perl's without what can't be matched in linear time.
///
/// Source: <https://github.com/google/re2/wiki/Syntax>. As in Perl only `\n` ends a line for `.`; `$` is the very end
/// of the text, as `\z` is.
///
/// `@unchecked Sendable`: RE2's matching is const and its own caches are behind its own locks ("RE2 objects are
/// safe for concurrent use by multiple threads", re2.h). Only `deinit` changes what is opened here.
package final class RegularExpression: @unchecked Sendable {
  /// Bytes that one expression, or all of one selector together, may take: its program and what matching keeps.
  package static let memoryBytes = 8 << 20
  /// The largest program, in estimated instructions. RE2's own bound on memory lets a program through that takes
  /// half a minute to compile.
  package static let programSize = 8_192

  private let compiled: OpaquePointer
  /// Instructions of the program: each byte of a text costs at most as many steps.
  let size: Int

  /// Compiles a pattern.
  /// - Parameter memory: bytes that it may take.
  /// - Throws: `malformed`, `notOffered`, `tooLarge`.
  package init(
    _ pattern: ScannedPattern, memory: Int = RegularExpression.memoryBytes
  ) throws(RegularExpressionError) {
    guard pattern.size <= Self.programSize else { throw .tooLarge }
    var text = pattern.text
    let opened = try Self.open(&text, memory)
    guard pattern.mayEndText else {
      compiled = opened
      size = Int(cre2_size(opened))
      return
    }
    // RE2 looks for a pattern that ends with the text's end backwards, in one go: not if it can't see that it does.
    cre2_close(opened)
    text = "((((" + text + "))))"
    compiled = try Self.open(&text, memory)
    size = Int(cre2_size(compiled))
  }

  deinit {
    cre2_close(compiled)
  }

  /// Whether the pattern occurs in the first bytes of a text; nil when there is no memory.
  /// - Parameter end: how many bytes.
  func occurs(in text: UnsafeBufferPointer<UInt8>, upTo end: Int) -> Bool? {
    text.withMemoryRebound(to: CChar.self) { text in
      let found = cre2_occurs(compiled, text.baseAddress, text.count, min(end, text.count))
      return found < 0 ? nil : found > 0
    }
  }

  private static func open(
    _ pattern: inout String, _ memory: Int
  ) throws(RegularExpressionError) -> OpaquePointer {
    var failure: Int32 = 0
    let opened = pattern.withUTF8 { pattern in
      pattern.withMemoryRebound(to: CChar.self) { pattern in
        cre2_open(pattern.baseAddress, pattern.count, Int64(memory), &failure)
      }
    }
    if let opened { return opened }
    if failure == Int32(cre2_too_large) { throw .tooLarge }
    throw .malformed
  }
}

/// Why a pattern can't be used.
package enum RegularExpressionError: Error, Sendable, Equatable {
  /// It is no regular expression.
  case malformed
  /// It has a construct of Perl's that RE2 does not have, which is named here.
  case notOffered(String)
  /// Its program, or what it takes to make it, is too large.
  case tooLarge
}

/// Looks for a regular expression in a text, in parts that each take some milliseconds at most.
///
/// RE2 can't be stopped or made to go on. So a part looks at the text's beginning again, which its automaton knows
/// by then, and at so many further bytes that the worst program takes no longer for them.
package struct RegularExpressionSearch: Sendable {
  /// What looking for a pattern in a text gave.
  package enum Outcome: Sendable, Equatable {
    /// The pattern occurs.
    case matched
    /// It does not.
    case notMatched
    /// The time was beyond what a search may take; nothing is known.
    case tooCostly
  }

  /// Steps of a program in one part: a step takes 5 to 11 ns where the automaton's states don't fit its memory.
  static let partSteps = 1 << 19
  /// The longest that a part may have taken for another to follow.
  static let partLimit = Duration.milliseconds(4)

  private let expression: RegularExpression
  private var text: String
  private var rest: Duration
  private var reached = 0

  /// A search that has not begun.
  /// - Parameter limit: how long the thread may run for it.
  package init(_ expression: RegularExpression, in text: String, within limit: Duration) {
    self.expression = expression
    self.text = text
    rest = limit
  }

  /// Looks through one part; nil when there is more to look through.
  package mutating func next() -> Outcome? {
    let start = ThreadTime.now
    let expression = expression
    let step = max(1, Self.partSteps / max(1, expression.size))
    let (count, end) = (text.utf8.count, reached.addingReportingOverflow(step).partialValue)
    let found = text.withUTF8 { text in expression.occurs(in: text, upTo: end) }
    guard let found else { return .tooCostly }
    guard !found else { return .matched }
    guard end < count else { return .notMatched }
    reached = end
    let taken = ThreadTime.now - start
    rest -= taken
    return taken > Self.partLimit || rest <= .zero ? .tooCostly : nil
  }
}

/// The time that the calling thread has run, which stands still while others have its processor: a budget
/// measured by it means the same on a busy machine.
///
/// Source: clock_gettime(2), `CLOCK_THREAD_CPUTIME_ID`. Comparable only on one thread.
package enum ThreadTime {
  /// The time since the thread began.
  package static var now: Duration {
    var time = timespec()
    // It fails only for a clock that is not there, which Linux has had since 2.6.
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
