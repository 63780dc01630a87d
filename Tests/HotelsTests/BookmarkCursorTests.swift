import Hotels
import Testing

@Suite struct BookmarkCursorTests {
  @Test(arguments: [
    "", "-", "1", "1-", "-0123456789abcdef", "01-0123456789abcdef", "1-0123456789ABCDEF",
    "1-0123456789abcde", "1-0123456789abcdef0", "12345678-0123456789abcdef", "+1-0123456789abcdef",
    " 1-0123456789abcdef", "1-0123456789abcdef ", "1-0123456789abcdeg", "-1-0123456789abcdef",
    "\u{661}-0123456789abcdef", "1--123456789abcdef",
  ])
  func anyOtherTextIsNoCursor(text: String) {
    #expect(BookmarkCursor(text) == nil)
  }

  @Test(arguments: ["0-0123456789abcdef", "9999999-ffffffffffffffff"])
  func cursorIsReadBack(text: String) {
    #expect(BookmarkCursor(text)?.description == text)
  }
}
