import Stores
import Testing

@testable import Accounts

/// The display names of users of other issuers.
struct PersonNameTests {
  private let forge: IssuerForge
  private let fixture: AccountFixture

  init() async throws {
    forge = try IssuerForge()
    fixture = try await AccountFixture.make(documents: IssuerSite(keys: forge.keys)) {
      $0.issuers = [IssuerForge.trusted]
    }
  }

  @Test func aUserOfAnIssuerChoosesChangesAndRemovesADisplayName() async throws {
    let user = try await exchange("one")
    let username = try #require(user.username)
    #expect(try await fixture.service.name(of: user) == PersonName(username))
    // Others invite them by the generated name.
    #expect(try await fixture.service.accountID(ofUser: username) == user.id)
    #expect(try await fixture.service.creation(of: user) != nil)
    try await fixture.service.setDisplayName(" \tAnn Lee\n", of: user, as: .server)
    try await fixture.service.setDisplayName("Bob", of: try await exchange("two"), as: .server)
    #expect(
      try await fixture.service.name(of: user) == PersonName(username, displayName: "Ann Lee"))
    let after = try await fixture.restarted()
    #expect(try await after.service.name(of: user)?.displayName == "Ann Lee")
    try await after.service.setDisplayName("Ann", of: user, as: .server)
    #expect(try await after.service.name(of: user)?.displayName == "Ann")
    try await after.service.setDisplayName(nil, of: user, as: .server)
    #expect(try await after.service.name(of: user) == PersonName(username))
  }

  @Test func aDisplayNameIsInNormalFormCAndItsBytesAreCounted() async throws {
    #expect(try Array(PersonName.displayName("e\u{301}").utf8) == [0xC3, 0xA9])
    let longest = String(repeating: "é", count: 32)
    #expect(try PersonName.displayName(longest) == longest)
    #expect(try PersonName.displayName(String(repeating: "e\u{301}", count: 32)) == longest)
    // Two people may have the same name, and it may be a third one's user name.
    #expect(try PersonName.displayName("demo") == "demo")
    for text in [
      "", " \n", longest + "x", "a\u{0}", "a\u{7}b", "a\nb", "a\u{2028}b", "a\u{202E}b",
      "\u{2067}a",
    ] {
      let code = try await failure { _ = try PersonName.displayName(text) }
      #expect(code == .invalidName, "\(text.debugDescription)")
    }
  }

  @Test func onlyUsersOfIssuersHaveADisplayName() async throws {
    let others = [
      try await fixture.signUp("demo").principal,
      try await fixture.guest().principal,
    ]
    for person in others {
      let code = try await failure {
        try await fixture.service.setDisplayName("Ann", of: person, as: .server)
      }
      #expect(code == .conflict)
      #expect(try await fixture.service.name(of: person)?.displayName == nil)
    }
  }

  @Test(arguments: [false, true])
  func anErasedAccountLeavesNoDisplayNameAndGetsNone(isRestored: Bool) async throws {
    let user = try await exchange("one")
    try await fixture.service.setDisplayName("Ann", of: user, as: .server)
    if isRestored {
      _ = try await fixture.service.eraseAgain([user.store])
    } else {
      try await fixture.service.erase(user)
    }
    let code = try await failure {
      try await fixture.service.setDisplayName("Eve", of: user, as: .server)
    }
    #expect(code == .invalidToken)
    let note = try await fixture.manager.withStore(.system) { store in
      try await store.read { view in try view.local(AccountKeys.displayName(of: user.id)) }
    }
    #expect(note == nil)
  }

  private func exchange(_ subject: String) async throws -> Principal {
    let token = forge.token(subject: subject)
    return try await fixture.service.exchange(
      idToken: Secret(token), guestToken: nil, bearer: nil, from: AccountFixture.home
    ).principal
  }
}
