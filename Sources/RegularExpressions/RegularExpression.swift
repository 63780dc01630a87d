import CRE2

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
