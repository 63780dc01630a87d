import StoreTesting
import Stores
import TestSupport
import Testing

@Suite struct StoreNameTests {
  private static let digits = "0123456789abcdef0123456789abcdef"

  @Test func keysAreReadBack() throws {
    let account = try #require(AccountID(Self.digits))
    let names: [StoreName] = [
      .guest(account), .user(account), .list(account), .system,
      .named(try #require(DatabaseName("guest/\(Self.digits)"))),
      .named(try #require(DatabaseName("system"))), .named(try #require(DatabaseName("named/a"))),
      .staged(.user(account)), .staged(.list(account)), .staged(.user(account), by: account),
      .staged(.named(try #require(DatabaseName("a/\(Self.digits)")))),
      .staged(.named(try #require(DatabaseName("a"))), by: account),
    ]
    #expect(Set(names.map(\.key)).count == names.count)
    for name in names {
      #expect(StoreName(key: name.key) == name)
      #expect(name.key.hasPrefix(name.namespace))
    }
  }

  @Test(arguments: [
    "", "/", "guest", "guest/", "guest/x", "guest/0123456789ABCDEF0123456789ABCDEF",
    "guest/0123456789abcdef0123456789abcdef0", "guest//0123456789abcdef0123456789abcdef",
    "guest/\u{338}0123456789abcdef0123456789abcdef", "Guest/0123456789abcdef0123456789abcdef",
    "system/", "system/x", "other/0123456789abcdef0123456789abcdef", "named/", "named/A",
    "named/../x/\u{0}", " system",
    "staged", "staged/", "staged/staged/user/0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef",
  ])
  func otherKeysAreRefused(_ key: String) {
    #expect(StoreName(key: key) == nil)
  }

  @Test(arguments: [
    "a", "z9", "a_$()+-/", "a//b", "a" + String(repeating: "0", count: 237), "user-", "guests-a",
    "guest-0123456789abcdef0123456789abcde", "list-0123456789abcdef0123456789abcdef0",
    "user-0123456789abcdef0123456789abcdeg", "users-0123456789abcdef0123456789abcdef",
  ])
  func databaseNamesFollowCouchDB(_ text: String) {
    #expect(DatabaseName(text)?.text == text)
  }

  @Test(arguments: [
    "", "A", "aB", "0a", "_a", "_users", "/a", "a b", "a.b", "a/../b", "a%2fb", "a\u{301}", "é",
    "a\n",
    "a\r\n", "a\u{0}", "a\\b", "a" + String(repeating: "0", count: 238),
    "guest-0123456789abcdef0123456789abcdef", "user-0123456789abcdef0123456789abcdef",
    "list-0123456789abcdef0123456789abcdef",
  ])
  func otherDatabaseNamesAreRefused(_ text: String) {
    #expect(DatabaseName(text) == nil)
  }

  @Test(arguments: [
    "", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0",
    "0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef0123456789abcdeg",
    "0123456789abcdef 123456789abcdef", "éééééééééééééééé",
  ])
  func otherAccountIDsAreRefused(_ text: String) {
    #expect(AccountID(text) == nil)
  }

  @Test func randomAccountIDsDiffer() {
    var generator = SeededGenerator(seed: 9)
    let ids = (0..<1_000).map { _ in AccountID.random(using: &generator) }
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { AccountID($0.text) == $0 })
  }
}
