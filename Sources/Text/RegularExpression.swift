import CRE2
import Glibc

/// A regular expression in RE2's syntax: Perl's syntax without the constructs that can't be matched in linear time.
///
/// Source: <https://github.com/google/re2/wiki/Syntax>. As in Perl, only `\n` ends a line for `.`; `$` matches only at
/// the end of the text, like `\z`.
///
/// `@unchecked Sendable`: RE2's matching functions are const and its caches have their own locks ("RE2 objects are safe
/// for concurrent use by multiple threads", re2.h). Only `deinit` changes the compiled pattern.
package final class RegularExpression: @unchecked Sendable {
  /// The most bytes of memory for one expression, or for all of one selector together: their programs and the caches of
  /// matching.
  package static let memoryBytes = 8 << 20
  /// The largest program, in estimated instructions. RE2's own memory limit allows a program that takes half a minute
  /// to compile.
  package static let programSize = 8_192

  private let compiled: OpaquePointer
  /// The number of instructions of the program: each byte of a text costs at most this many steps.
  let size: Int

  /// Compiles a pattern.
  /// - Parameter memory: the most bytes of memory that it may use.
  /// - Throws: `malformed` or `tooLarge`.
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
    // RE2 matches a pattern that ends with the end of the text backwards, in one pass that can't be split into parts.
    // The groups hide that end from RE2.
    cre2_close(opened)
    text = "((((" + text + "))))"
    compiled = try Self.open(&text, memory)
    size = Int(cre2_size(compiled))
  }

  deinit { cre2_close(compiled) }

  /// Whether the first bytes of a text contain a match; nil when there is not enough memory.
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
  /// It is not a regular expression.
  case malformed
  /// It contains a construct of Perl that RE2 lacks; the value is the construct's name.
  case notOffered(String)
  /// Its program, or the memory to compile it, is too large.
  case tooLarge
}

/// Searches a text for a regular expression, in parts that each take a few milliseconds at most.
///
/// RE2 can't interrupt and continue a search. Therefore each part searches from the beginning of the text again, whose
/// states RE2 has cached by then, and adds so few bytes that even the slowest program takes no longer for them.
package struct RegularExpressionSearch: Sendable {
  /// The result of a search.
  package enum Outcome: Sendable, Equatable {
    /// The text contains a match.
    case matched
    /// The text contains no match.
    case notMatched
    /// The search took longer than it may; the result is unknown.
    case tooCostly
  }

  /// How many steps of a program one part takes. A step takes 5 to 11 ns when the automaton's states don't fit into its
  /// memory.
  static let partSteps = 1 << 19
  private let expression: RegularExpression
  private var text: String
  /// When a part takes longer than this, the search ends: two twenty-fifths of the limit, 4 ms of 50.
  private let partLimit: Duration
  private var rest: Duration
  private var reached = 0

  /// Makes a search that has not begun.
  /// - Parameter limit: how much processor time the search may take.
  package init(_ expression: RegularExpression, in text: String, within limit: Duration) {
    self.expression = expression
    self.text = text
    partLimit = limit * 2 / 25
    rest = limit
  }

  /// Searches one part.
  /// - Returns: nil when parts are left.
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
    return taken > partLimit || rest <= .zero ? .tooCostly : nil
  }
}

/// The processor time of the calling thread. It does not advance while other threads use the processor, so that a
/// budget in this time means the same on a busy machine.
///
/// Source: clock_gettime(2), `CLOCK_THREAD_CPUTIME_ID`. Comparable only on one thread.
package enum ThreadTime {
  /// The processor time since the thread began.
  package static var now: Duration {
    var time = timespec()
    // The call fails only when the clock does not exist; Linux has it since 2.6.
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
