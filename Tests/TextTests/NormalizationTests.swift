import Testing
import Text

/// The normal forms of Unicode Standard Annex 15.
struct NormalizationTests {
  @Test(arguments: [
    ("e\u{301}", "\u{E9}"), ("\u{E9}", "\u{E9}"), ("\u{1FEF}", "`"),
    ("a\u{301}\u{323}", "\u{1EA1}\u{301}"),
    ("\u{1100}\u{1161}", "\u{AC00}"), ("\u{FF21}", "\u{FF21}"), ("Ada 1", "Ada 1"), ("", ""),
  ])
  func canonicalFormComposes(_ raw: String, _ normal: String) {
    #expect(Array(raw.normalized(.canonical).utf8) == Array(normal.utf8))
  }

  @Test(arguments: [("\u{FF21}", "A"), ("\u{FB01}", "fi"), ("\u{FF76}\u{FF9E}", "\u{30AC}")])
  func compatibleFormReplacesVariants(_ raw: String, _ normal: String) {
    #expect(Array(raw.normalized(.compatible).utf8) == Array(normal.utf8))
  }

  /// U+FDFA becomes eighteen characters, so the first buffer is too small.
  @Test func textThatGrowsIsWhole() {
    let text = String(repeating: "\u{FDFA}", count: 100)
    #expect(text.normalized(.compatible).unicodeScalars.count == 1_800)
  }

  /// Foundation's normalisation made a Latin letter of these two: it used only the lower 16 bits of U+10041.
  @Test func letterBeyondTheFirstPlaneIsNoOther() {
    let text = "\u{10041}\u{323}"
    #expect(Array(text.normalized(.canonical).utf8) == Array(text.utf8))
  }
}
