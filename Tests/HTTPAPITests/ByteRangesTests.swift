import Testing

@testable import HTTPAPI

@Suite struct ByteRangesTests {
  @Test(
    .bug(id: "H18"),
    arguments: [
      (nil, .whole), ("bytes=0-0", .some([0..<1])), ("bytes=0-", .whole), ("bytes=3-4,0-", .whole),
      ("bytes=-3", .some([7..<10])), ("bytes=-99", .some([0..<10])),
      ("bytes=5-99999999999999999999999", .some([5..<10])), ("bytes=10-", .notSatisfiable),
      ("bytes=-0", .notSatisfiable), ("bytes=99999999999999999999999-", .notSatisfiable),
      ("bytes=0-1, 9-", .some([0..<2, 9..<10])), ("bytes=10-,0-0", .some([0..<1])),
      ("Bytes=1-2", .some([1..<3])), ("bytes=5-2", .notSatisfiable), ("bytes=", .whole),
      ("bytes=-", .whole),
      ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("lines=0-1", .whole), ("bytes=0-1-2", .whole),
      ("bytes=" + Array(repeating: "0-0", count: 9).joined(separator: ","), .whole),
    ] as [(String?, ByteRanges)])
  func fieldIsRead(field: String?, ranges: ByteRanges) {
    #expect(ByteRanges(field, of: 10) == ranges)
  }

  @Test func nothingHasNoRange() {
    #expect(ByteRanges("bytes=0-0", of: 0) == .notSatisfiable)
    #expect(ByteRanges(nil, of: 0) == .whole)
  }
}
