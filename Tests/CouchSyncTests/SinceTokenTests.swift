import CouchSync
import Stores
import Testing

struct SinceTokenTests {
  private var info = StoreInfo(
    documentCount: 0, deletedCount: 0, lastSequence: 7, bodyBytes: 0,
    epoch: "0123456789abcdef0123456789abcdef")
  private let tag: StoreTag

  init() throws {
    info.formerEpochs = [FormerEpoch(epoch: "aaaabbbbccccddddaaaabbbbccccdddd", last: 4)]
    tag = StoreTag(.named(try #require(DatabaseName("db"))))
  }

  @Test func tagIsTheStoresName() throws {
    // printf named/db | sha256sum
    #expect(tag.digits == "36ae8048")
    #expect(StoreTag(.system) != tag)
  }

  @Test(
    arguments: [
      ("0", 0, false), ("now", 7, false), ("\"0\"", 0, false), ("\"now\"", 7, false),
      ("0-TAG01234567", 0, false), ("5-TAG01234567", 5, false), ("\"5-TAG01234567\"", 5, false),
      ("7-TAG01234567", 7, false), ("8-TAG01234567", 0, true),
      ("9223372036854775807-TAG01234567", 0, true), ("5-TAGfedcba98", 0, true),
      ("4-TAGaaaabbbb", 4, false), ("5-TAGaaaabbbb", 0, true),
      // A reader at number 0 has seen nothing, so it has lost nothing.
      ("0-TAGfedcba98", 0, false),
    ] as [(String, Int64, Bool)])
  func tokenLeadsToItsPlaceOrStartsOver(text: String, sequence: Int64, isRewound: Bool) throws {
    let token = try SinceToken(text.replacing("TAG", with: tag.digits))
    let position = token.position(in: info, of: tag)
    #expect(position.sequence == sequence)
    #expect(position.isRewound == isRewound)
  }

  @Test(
    .bug(id: "J13"),
    arguments: [
      "", "\"", "\"\"", "-1", "+1", " 5-0123456789abcdef", "NOW", "-0123456789abcdef",
      "٥-0123456789abcdef",
      "null", "[5,\"x\"]", "5 ", "5.0", "5x", "0x5-a", "now-1", "x-5", "-",
      String(repeating: "0", count: SinceToken.maximumBytes + 1),
      "5-" + String(repeating: "a", count: SinceToken.maximumBytes - 1),
    ])
  func garbageIsRefused(text: String) async {
    #expect(await refusal { try SinceToken(text) } == "400 bad_request")
  }

  @Test(
    .bug(id: "J13"),
    arguments: [
      "5", "00", "\"5\"", "99999999999999999999", "05-0123456789abcdef", "5-", "5-0123456789abcde",
      "5-0123456789ABCDEF", "5-0123456789abcdef0", "5-0123456789abcdef ", "5-0123456789abcdeg",
      "9223372036854775808-0123456789abcdef", "5--123456789abcdef", "5-g1AAAAF9eJzLYWBg",
      "5-\u{E9}", "0-fedcba9801234567", "5-fedcba9801234567", "9-fedcba9801234567",
      "5-" + String(repeating: "a", count: SinceToken.maximumBytes - 2),
    ])
  func positionOfAnotherDatabaseStartsFromTheBeginning(text: String) throws {
    let position = try SinceToken(text).position(in: info, of: tag)
    #expect(position.sequence == 0 && position.isRewound)
  }

  @Test func tokenReadsItsOwnText() throws {
    let token = SinceToken.at(7, in: info, of: tag)
    #expect(token.text == "7-\(tag.digits)01234567")
    #expect(try SinceToken(token.text) == token)
    #expect(token.position(in: info, of: tag).sequence == 7)
  }
}
