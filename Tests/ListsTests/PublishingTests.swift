import Accounts
import Documents
import Hotels
import StoreTesting
import Stores
import Synchronization
import TestSupport
import Testing

@testable import Lists

/// An interruption of publishing.
@Suite(.timeLimit(.minutes(60))) struct PublishingTests {
  @Test func aStopAfterTheListHasTheChangeLeavesNoDraftBehind() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let text = try DocumentBody(["markdown": "one"] as JSONValue)
    let (draft, _) = try await fixture.lists.save(
      .note("Plan"), text, on: list, of: owner, base: .present, condition: .none, as: .server)
    _ = try await fixture.lists.publish(.note("Plan"), on: list, of: owner, as: .server)
    // The state without the last two steps.
    try await fixture.stores.withExisting(.user(owner)) { store in
      let id = try ListDraft.id(of: draft.document, on: list)
      try await store.update { changes in try changes.put(id, base: nil, body: draft.body()) }
    }
    let again = try #require(try await fixture.lists.draft(.note("Plan"), on: list, of: owner))
    let receipt = PublishedDraft(again, by: owner)
    try await fixture.stores.withExisting(.list(list)) { store in
      try await store.update { changes in
        changes.write(LocalEdit(receipt.id, LocalDocument(revision: 1, body: receipt.mark)))
      }
    }
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      changes.note(
        ListKeys.publishing(draft.document, on: list, by: owner),
        ["list": .string(list.text), "document": .string(draft.document.text)])
    }
    #expect(try await fixture.lists.finish().isEmpty)
    #expect(try await fixture.lists.drafts(on: list, of: owner).isEmpty)
  }

  @Test func unreadableRecordsStopNoOtherWork() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, friend, "ben", by: owner)
    let (none, now) = (
      try #require(AccountID(String(repeating: "0", count: 32))), fixture.clock.now
    )
    let records = [
      ListKeys.publishing(try DocumentID("d"), on: none, by: owner),
      ListKeys.endedDrafts(of: owner, on: none), ListKeys.imported(by: owner, marked: none),
      ListKeys.stale(none), ListKeys.ended(none), ListKeys.end(of: none, at: now),
    ]
    try await fixture.stores.update(.system, as: .server) { changes in
      for id in records { changes.note(id, [:]) }
      try changes.removeMember(friend, from: list, at: now)
      let broken = LocalDocument(revision: 1, body: Array("{".utf8))
      changes.write(LocalEdit(ListKeys.stale(list), broken))
    }
    await fixture.stores.close()
    let damaged = try ListFixture(fixture.engine, without: Set(records.map(\.text)))
    #expect(try await damaged.lists.finishImports().count == 1)
    #expect(try await damaged.lists.finish().count == 2)
    let left = try await damaged.records(of: list)
    #expect(!left.contains { $0.contains("list-stale") || $0.contains("list-drafts") }, "\(left)")
  }

  /// Regression: damage that ended the walk over one kind of records ended all of them, and the start of the server. Here each of
  /// the first reads fails once; what some of them end leaves the work of another walk done.
  @Test func damageThatEndsOneWalkStopsNoOther() async throws {
    let none = try #require(AccountID(String(repeating: "0", count: 32)))
    var (found, left): ([Int], [Int]) = ([], [])
    for damaged in 1...5 {
      let fixture = try ListFixture()
      try await fixture.stores.update(.system, as: .server) { changes in
        changes.note(ListKeys.ended(none), [:])
      }
      await fixture.stores.close()
      let again = try ListFixture(
        fixture.engine,
        before: { number, _ in
          if number == damaged { throw ServiceError(.integrity, "It can't be read") }
        })
      found.append(try await again.lists.finish().count)
      await again.stores.close()
      left.append(try await ListFixture(fixture.engine).records(of: none).count)
    }
    #expect(zip(found, left).contains { $0 > 0 && $1 == 0 }, "\(found), \(left)")
  }

  /// One unreadable invitation or link kept a list, and with it its owner's account, from being erased.
  @Test func aListEndsBesideUnreadableRecords() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let issued = try await fixture.lists.invite(
      to: list, as: .reader, until: nil, by: owner, as: .server)
    let link = try await fixture.lists.makeLink(to: list, by: owner, as: .server)
    try await fixture.stores.update(.system, as: .server) { changes in
      let broken = LocalDocument(revision: 1, body: Array("{".utf8))
      changes.write(LocalEdit(ListKeys.invitation(issued.invitation.id, to: list), broken))
      changes.write(LocalEdit(ListKeys.link(link.link.id, to: list), broken))
    }
    try await fixture.lists.end(list, by: owner, as: .server)
    #expect(try await fixture.lists.role(of: owner, in: list) == nil)
  }

  @Test func aPublicationThatAnotherProcessHasJustBegunIsLeftAlone() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let text = try DocumentBody(["markdown": "one"] as JSONValue)
    let (draft, _) = try await fixture.lists.save(
      .note("Plan"), text, on: list, of: owner, base: .present, condition: .none, as: .server)
    let note = ListKeys.publishing(draft.document, on: list, by: owner)
    let begun = fixture.clock.now
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      changes.note(
        note,
        [
          "list": .string(list.text), "document": .string(draft.document.text), "at": .time(begun),
        ])
    }
    func isNoted() async throws -> Bool {
      try await fixture.lists.directory.read(orAbsent: false) { view in
        try view.local(note) != nil
      }
    }
    #expect(try await fixture.lists.finish(begunBefore: begun).isEmpty)
    #expect(try await isNoted())
    #expect(try await fixture.lists.finish(begunBefore: begun.adding(seconds: 1)).isEmpty)
    #expect(try await !isNoted())
  }

  @Test func aStopBeforeTheListHasTheChangeLeavesTheDraft() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let text = try DocumentBody(["markdown": "one"] as JSONValue)
    let (draft, _) = try await fixture.lists.save(
      .note("Plan"), text, on: list, of: owner, base: .present, condition: .none, as: .server)
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      changes.note(
        ListKeys.publishing(draft.document, on: list, by: owner),
        ["list": .string(list.text), "document": .string(draft.document.text)])
    }
    #expect(try await fixture.lists.finish().isEmpty)
    #expect(try await fixture.lists.drafts(on: list, of: owner).count == 1)
    guard
      case .note(let note?) = try await fixture.lists.publish(
        .note("Plan"), on: list, of: owner, as: .server)
    else {
      Issue.record("no note")
      return
    }
    #expect(note.markdown == "one")
  }

  /// The removal of what a former member had goes on while they join again.
  @Test func whoJoinsAgainLosesNothingToTheRemovalBefore() async throws {
    let fixture = try ListFixture()
    let (owner, friend) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.join(list, friend, "ben", by: owner)
    let text = try DocumentBody(["markdown": "one"] as JSONValue)
    _ = try await fixture.lists.save(
      .note("Plan"), text, on: list, of: friend, base: .present, condition: .none, as: .server)
    try await fixture.writeLocal(in: list, by: friend)
    try await fixture.lists.removeDrafts(on: list, of: friend, as: .server)
    #expect(try await fixture.lists.drafts(on: list, of: friend).map(\.markdown) == ["one"])
    #expect(try await fixture.local(in: list) != nil)
    try await fixture.lists.removeMember("ben", from: list, by: friend, as: .server)
    #expect(try await fixture.lists.drafts(on: list, of: friend).isEmpty)
    #expect(try await fixture.local(in: list) == nil)
  }
}
