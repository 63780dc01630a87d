import Foundation

/// How often a random test is repeated: the first number, or the second in the nightly run, `Scripts/test --nightly`.
package func repetitions<Count: FixedWidthInteger>(_ usual: Count, nightly: Count) -> Count {
  ProcessInfo.processInfo.environment["BOOKMARKS_NIGHTLY"] == nil ? usual : nightly
}
