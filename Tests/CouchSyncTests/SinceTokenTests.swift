import CouchSync
import Stores
import Testing

struct SinceTokenTests {
  private let info = StoreInfo(
    documentCount: 0, deletedCount: 0, lastSequence: 7, bodyBytes: 0,
    epoch: "0123456789abcdef0123456789abcdef")

  @Test(
    arguments: [
      ("0", 0, false), ("now", 7, false), ("\"0\"", 0, false), ("\"now\"", 7, false),
      ("0-0123456789abcdef", 0, false), ("5-0123456789abcdef", 5, false),
      ("\"5-0123456789abcdef\"", 5, false), ("7-0123456789abcdef", 7, false),
      ("8-0123456789abcdef", 0, true), ("9223372036854775807-0123456789abcdef", 0, true),
      ("5-fedcba9876543210", 0, true),
    ] as [(String, Int64, Bool)])
  func tokenLeadsToItsPlaceOrStartsOver(text: String, sequence: Int64, isRewound: Bool) throws {
    let position = try SinceToken(text).position(in: info)
    #expect(position.sequence == sequence)
    #expect(position.isRewound == isRewound)
  }

  @Test(arguments: [
    "", "\"", "\"\"", "5", "00", "-1", "+1", " 5-0123456789abcdef", "5-0123456789abcdef ", "NOW",
    "05-0123456789abcdef", "-0123456789abcdef", "5-", "5-0123456789abcde", "5-0123456789ABCDEF",
    "5-0123456789abcdef0", "9223372036854775808-0123456789abcdef", "٥-0123456789abcdef",
    "5--123456789abcdef", "null", "[5,\"x\"]", "5-0123456789abcdeg",
    String(repeating: "0", count: 200),
  ])
  func j13GarbageIsRefused(text: String) async {
    #expect(await refusal { try SinceToken(text) } == "400 bad_request")
  }

  @Test func tokenReadsItsOwnText() throws {
    let token = SinceToken.at(7, in: info)
    #expect(token.text == "7-0123456789abcdef")
    #expect(try SinceToken(token.text) == token)
  }
}
