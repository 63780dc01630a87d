import Accounts
import Documents
import Hotels
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Lists

@Suite(.timeLimit(.minutes(60))) struct ListServiceTests {
  @Test func aListThatIsNotKnownYetIsErasedAtTheNextStart() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    // The owner has made as many lists as allowed. The store is made, but the list is refused.
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      for number in 0..<ListLimits.owned {
        var generator = SeededGenerator(seed: UInt64(number))
        changes.note(
          ListKeys.membership(owner, .random(using: &generator)),
          ["role": "owner", "made": true])
      }
    }
    await #expect(throws: ServiceError.self) { _ = try await fixture.list(of: owner, "ann") }
    let left = try await fixture.engine.names(in: "list", after: nil, limit: 10)
    #expect(left.isEmpty)
  }

  @Test func aListStaysWholeWhenTheOutcomeOfMakingItIsUnknown() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    // The first update records that the store is to be erased, the second one creates the list.
    fixture.engine.loseOutcome(in: .system, after: 1)
    await #expect(throws: ServiceError.self) { _ = try await fixture.list(of: owner, "ann") }
    let made = try await fixture.lists.lists(of: owner, after: nil, limit: 10).lists
    #expect(made.map(\.title) == ["Rome"])
    #expect(try await fixture.accounts.finishErasures().isEmpty)
    #expect(try await fixture.document(#require(made.first?.id)) != nil)
  }

  @Test func aListThatWasNotMadeIsErasedAtALaterStartWhenTheOutcomeIsUnknown() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    fixture.engine.loseOutcome(in: .system, after: 1, committing: false)
    await #expect(throws: ServiceError.self) { _ = try await fixture.list(of: owner, "ann") }
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 10).count == 1)
    #expect(try await fixture.accounts.finishErasures().isEmpty)
    #expect(try await fixture.lists.lists(of: owner, after: nil, limit: 10).lists.isEmpty)
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 10).isEmpty)
  }

  @Test func anImportThatFailsLeavesAnotherOneOfTheAccountAlone() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let member = ListMember(
      account: owner, name: PersonName("ann"), role: .owner, joinedAt: fixture.clock.now)
    let other = try await fixture.account("other")
    let first = ListImport(fixture.lists, for: member, as: .server)
    let second = ListImport(fixture.lists, for: member, as: .server)
    _ = try await first.target(of: owner)
    _ = try await second.target(of: owner)
    let title = try ListDocument.body(
      title: "Rome", markdown: "", owner: "ann", at: fixture.clock.now)
    for case .list(let list) in try await fixture.engine.names(in: "list", after: nil, limit: 10) {
      try await fixture.stores.withExisting(.list(list)) { store in
        _ = try await store.put(ListDocument.id(of: list), base: nil, body: title)
      }
    }
    try await fixture.stores.fill(.user(owner)) { own in
      try await first.renew(own)
      try await first.prepare(own)
      // Another server may have come as far, with a store of its own.
      try await fixture.stores.withStore(.list(other)) { try await second.prepare($0) }
    }
    try await second.finish()
    try await first.finish()
    let lists = try await fixture.lists.directory.lists(of: owner, after: nil, limit: 10)
    #expect(lists.count == 1)
    #expect(try await fixture.stores.erase(.list(other)))
    let stores = try await fixture.engine.names(in: "list", after: nil, limit: 10)
    #expect(stores == lists.map { .list($0.id) })
    #expect(try await fixture.accounts.finishErasures().isEmpty)
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 10) == stores)
  }

  /// A write that began while the membership lasted is committed after its end.
  @Test func aFormerMembersLocalDocumentIsRefusedInItsTransaction() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, friend, "ben", by: owner)
    try await fixture.writeLocal(in: list, by: friend)
    #expect(try await fixture.local(in: list) != nil)
    try await fixture.lists.removeMember("ben", from: list, by: owner, as: .server)
    #expect(try await fixture.local(in: list) == nil)
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.writeLocal(in: list, by: friend)
    }
    #expect(error?.code == .absent)
    #expect(try await fixture.local(in: list) == nil)
    try await fixture.join(list, friend, "ben", by: owner)
    try await fixture.writeLocal(in: list, by: friend)
    #expect(try await fixture.local(in: list) != nil)
  }

  /// Regression: one update of the store of all accounts removed a thousand members.
  @Test func aLongListEndsInShortUpdates() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let members = try await fixture.fill(list, members: 250, invited: 250)
    let member = try #require(members.first)
    #expect(try await fixture.lists.role(of: member, in: list) == .reader)
    // The first update only, as after a crash.
    let edits = try await fixture.lists.stores.update(.system, as: .server) { changes in
      _ = try changes.endList(list, of: owner, at: fixture.clock.now)
      return changes.locals.count
    }
    #expect(edits <= 410)
    for account in members + [owner] {
      #expect(try await fixture.lists.role(of: account, in: list) == nil)
    }
    #expect(try await fixture.lists.lists(of: member, after: nil, limit: 10).lists.isEmpty)
    await #expect(throws: ServiceError.self) {
      try await fixture.join(list, members[1], "ben", by: owner)
    }
    #expect(try await fixture.lists.catchUp().isEmpty)
    #expect(try await fixture.records(of: list).isEmpty)
  }

  @Test func theEndOfALongListLeavesNoRecordOfIt() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    _ = try await fixture.fill(list, members: 150, invited: 120)
    try await fixture.lists.end(list, by: owner, as: .server)
    // The drafts of former members are removed later.
    let left = try await fixture.records(of: list).filter { !$0.contains("/list-drafts/") }
    #expect(left.isEmpty)
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 10).isEmpty)
  }

  @Test func aPageOfLongListsEndsEarly() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let member = ListMember(
      account: owner, name: PersonName("ann"), role: .owner, joinedAt: fixture.clock.now)
    let text = String(repeating: "x", count: ListLimits.markdownBytes)
    var made: Set<AccountID> = []
    for number in 0..<5 {
      let title = "Rome \(number)"
      made.insert(
        try await fixture.lists.make(title: title, markdown: text, owner: member, as: .server).id)
    }
    var (pages, last): ([[AccountID]], AccountID?) = ([], nil)
    repeat {
      let page = try await fixture.lists.lists(of: owner, after: last, limit: 50)
      pages.append(page.lists.map(\.id))
      last = page.next
    } while last != nil
    #expect(pages.map(\.count) == [2, 2, 1])
    #expect(Set(pages.joined()) == made)
    #expect(try await fixture.lists.lists(of: owner, after: nil, limit: 1).lists.count == 1)
  }

  @Test func aStopBeforeTheMembersAreShownIsMadeGoodAtTheNextStart() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    let now = fixture.clock.now
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      _ = try changes.putMember(friend, "ben", role: .reader, on: list, at: now)
    }
    #expect(try await fixture.document(list)?.members["members"] == [])
    #expect(try await fixture.lists.finish().isEmpty)
    #expect(try await fixture.document(list)?.members["members"] == ["ben"])
    let stale = ListKeys.range(ListKeys.stalePrefix)
    #expect(try await fixture.lists.directory.first(in: stale) == nil)
  }

  @Test func anAccountThatEndsTakesItsNameOutOfAllLists() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, friend, "ben", by: owner)
    let person = Principal(kind: .user, id: friend, username: "ben", store: .user(friend))
    try await fixture.accounts.erase(person)
    #expect(try await fixture.lists.finish().isEmpty)
    let text = try await fixture.stores.withExisting(.list(list)) { store in
      try await store.read { view in
        let id = ListDocument.id(of: list)
        return try view.tree(id)?.nodes.compactMap { try view.body(id, $0.revision) }
          .map { String(decoding: $0, as: UTF8.self) }.joined() ?? ""
      }
    }
    #expect(text.contains("ann") && !text.contains("ben"))
    #expect(try await fixture.lists.role(of: friend, in: list) == nil)
  }

  @Test(.bug(id: "34/9"), arguments: [true, false])
  func nameOfAFormerMemberIsInNoRevisionAndNoConflict(isErased: Bool) async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, friend, "ben", by: owner)
    try await fixture.lists.change(list, by: owner, title: "Paris", markdown: nil, as: .server)
    // Two devices pushed titles that conflict. Both revisions name the member.
    let id = ListDocument.id(of: list)
    try await fixture.stores.withExisting(.list(list)) { store in
      guard let winner = try await store.document(id) else { throw ServiceError.absent }
      for title in ["Oslo", "Bern"] {
        try await store.update(loading: [id]) { changes in
          let text = String(decoding: winner.body, as: UTF8.self)
            .replacing("Paris", with: title)
          let body = try DocumentBody(parsing: Array(text.utf8))
          let tree = try changes.view.tree(id)
          let history = tree?.history(of: winner.revision).dropFirst() ?? []
          let revision = body.revision(below: history.first, isDeleted: false)
          changes.write(
            try Edit.insert(
              id, in: tree, history: [revision] + history, body: body, isDeleted: false,
              known: nil))
        }
      }
    }
    #expect(try await bodies(of: list, fixture).count { $0.contains("ben") } >= 3)
    let title = try await fixture.document(list)?.title
    if isErased {
      let person = Principal(kind: .user, id: friend, username: "ben", store: .user(friend))
      try await fixture.accounts.erase(person)
    } else {
      try await fixture.lists.removeMember("ben", from: list, by: owner, as: .server)
    }
    #expect(try await fixture.lists.catchUp().isEmpty)
    let left = try await bodies(of: list, fixture)
    #expect(left.contains { $0.contains("ann") } && !left.contains { $0.contains("ben") })
    let stale = ListKeys.range(ListKeys.stalePrefix)
    #expect(try await fixture.lists.directory.first(in: stale) == nil)
    let tree = try await fixture.stores.withExisting(.list(list)) { store in
      try await store.read { view in try view.tree(id) }
    }
    #expect(tree?.liveLeaves.count == 3 && tree?.leaves.count == 3)
    // What the branches say of the list is kept, and the same one wins.
    #expect(["Paris", "Oslo", "Bern"].allSatisfy { title in left.contains { $0.contains(title) } })
    #expect(try await fixture.document(list)?.title == title)
  }

  /// The stored bodies of all revisions of a list's own document.
  private func bodies(of list: AccountID, _ fixture: ListFixture) async throws -> [String] {
    try await fixture.stores.withExisting(.list(list)) { store in
      try await store.read { view in
        let id = ListDocument.id(of: list)
        return try view.tree(id)?.nodes.compactMap { try view.body(id, $0.revision) }
          .map { String(decoding: $0, as: UTF8.self) } ?? []
      }
    }
  }

  @Test func anAccountThatHasEndedLeavesNoMembershipBehind() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    let token = try await fixture.lists.invite(
      to: list, as: .editor, until: nil, by: owner, as: .server
    ).token
    let person = Principal(kind: .user, id: friend, username: "ben", store: .user(friend))
    // A request that was accepted earlier commits after the account was erased.
    try await fixture.accounts.erase(person)
    await #expect(throws: ServiceError.self) {
      _ = try await fixture.lists.accept(token, by: friend, "ben", as: .server)
    }
    await #expect(throws: ServiceError.self) { _ = try await fixture.list(of: friend, "ben") }
    #expect(try await fixture.lists.role(of: friend, in: list) == nil)
    #expect(try await fixture.lists.directory.members(of: list)?.all.count == 1)
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 10).count == 1)
    // The invitation is still open for the next user of that name.
    let next = try await fixture.account("ben")
    _ = try await fixture.lists.accept(token, by: next, "ben", as: .server)
  }

  @Test func anotherStateThanDemandedIsFoundInTheUpdateThatWrites() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, friend, "ben", by: owner)
    let tag = try await fixture.lists.list(list, for: owner).tag
    let condition: ListService.Condition = { state in
      guard tag.hasPrefix(state.text + "+") else {
        throw ServiceError(.precondition, "Another state")
      }
    }
    try await fixture.lists.change(
      list, by: friend, title: "Paris", markdown: nil, condition: condition, as: .server)
    await #expect(throws: ServiceError.self) {
      try await fixture.lists.change(
        list, by: owner, title: "Oslo", markdown: nil, condition: condition, as: .server)
    }
    await #expect(throws: ServiceError.self) {
      _ = try await fixture.lists.offer(
        list, to: "ben", by: owner, condition: condition, as: .server)
    }
    await #expect(throws: ServiceError.self) {
      try await fixture.lists.end(list, by: owner, condition: condition, as: .server)
    }
    let left = try await fixture.lists.list(list, for: owner)
    #expect(left.title == "Paris" && left.role == .owner)
  }

  @Test func aThousandMembersAreReadInSlices() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      for number in 1..<ListLimits.members {
        var generator = SeededGenerator(seed: UInt64(number))
        changes.note(
          ListKeys.member(.random(using: &generator), of: list),
          ["name": .string("m\(number)"), "role": "reader", "joinedAt": 1])
      }
    }
    let members = try #require(await fixture.lists.directory.members(of: list))
    #expect(members.all.count == ListLimits.members && members.all.first?.username == "ann")
    #expect(
      try await fixture.lists.directory.names(of: [owner], on: list) == [owner: PersonName("ann")])
    _ = try await fixture.account("ben")
    await #expect(throws: ServiceError.self) {
      try await fixture.lists.putMember("ben", role: .reader, on: list, by: owner, as: .server)
    }
  }

  @Test func invitationsAreKnownByTheirHashAlone() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let token = try await fixture.lists.invite(
      to: list, as: .reader, until: nil, by: owner, as: .server
    ).token
    let notes = try await fixture.lists.directory.read(orAbsent: "") { view in
      var text = ""
      try view.locals(DocumentRange()) { id, note in
        text += id.text + String(decoding: note.body, as: UTF8.self)
        return true
      }
      return text
    }
    #expect(notes.contains(Invitation.hash(of: token)) && !notes.contains(token))
  }

  @Test func aListThatHasEndedLeavesNoNoteBehind() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, friend, "ben", by: owner)
    _ = try await fixture.lists.invite(to: list, as: .reader, until: nil, by: owner, as: .server)
    _ = try await fixture.account("cid")
    try await fixture.lists.putMember("cid", role: .editor, on: list, by: owner, as: .server)
    try await fixture.lists.end(list, by: owner, as: .server)
    #expect(try await fixture.lists.catchUp().isEmpty)
    let ids: [String] = try await fixture.lists.directory.read(orAbsent: []) { view in
      var ids: [String] = []
      try view.locals(DocumentRange()) { id, _ in
        ids.append(id.text)
        return true
      }
      return ids
    }
    #expect(ids.filter { $0.contains(list.text) || $0.contains("invit") } == [])
    #expect(try await fixture.engine.names(in: "list", after: nil, limit: 1).isEmpty)
    await #expect(throws: ServiceError.self) {
      try await fixture.lists.list(list, for: friend)
    }
  }

  @Test func concurrentFollowersOfOneInvitationAreOneMember() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let token = try await fixture.lists.invite(
      to: list, as: .reader, until: nil, by: owner, as: .server
    ).token
    var friends: [(AccountID, String)] = []
    for number in 0..<8 {
      friends.append((try await fixture.account("friend\(number)"), "friend\(number)"))
    }
    let joined = await withTaskGroup(of: Bool.self) { group in
      for (id, name) in friends {
        group.addTask { (try? await fixture.lists.accept(token, by: id, name, as: .server)) != nil }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(joined == 1)
    #expect(try await fixture.lists.directory.members(of: list)?.all.count == 2)
  }
}
