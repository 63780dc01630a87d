import Accounts
import Documents
import Hotels
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Lists

/// Reads of lists whose steps an engine runs again, as after a lost connection.
@Suite struct RepeatedListReadTests {
  /// What the list's owner reads.
  private struct Found: Equatable {
    var notes: [ListNote] = []
    var members: [String]
    var counts: [Int]
    /// The names in the list's history.
    var history: [String] = []
    /// The titles of the notes that a link shows.
    var shown: [String] = []
  }

  private func read(
    _ lists: ListService, _ list: AccountID, _ owner: AccountID, _ secret: String
  ) async throws -> Found {
    let members = try await lists.directory.members(of: list)?.all.map(\.username) ?? []
    let counts = try await lists.directory.memberCounts(of: [list, owner, list])
    var (found, last) = (Found(members: members, counts: counts), String?.none)
    repeat {
      let (notes, next) = try await lists.notes(of: list, after: last, limit: 7, for: owner)
      found.notes += notes
      last = next
    } while last != nil
    var start: Int64?
    repeat {
      let page = try await lists.history(of: list, from: start, limit: 7)
      found.history += page.events.map(\.name)
      start = page.next
    } while start != nil
    var position: ShownList.Position?
    repeat {
      let page = try await lists.list(shownBy: secret, from: position, limit: 7)
      found.shown += page.notes.map(\.title)
      position = page.next
    } while position != nil
    return found
  }

  @Test func listIsTheSameHoweverOftenItsStepsRun() async throws {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    try await fixture.lists.stores.update(.system, as: .server) { changes in
      for number in 1..<30 {
        var generator = SeededGenerator(seed: UInt64(number))
        changes.note(
          ListKeys.member(.random(using: &generator), of: list),
          ["name": .string("m\(number)"), "role": "reader", "joinedAt": 1])
      }
    }
    for number in 10..<40 {
      _ = try await fixture.lists.putNote(
        "note \(number)", "text \(number)", on: list, condition: .none, as: .server)
    }
    let secret = try await fixture.lists.makeLink(to: list, by: owner, as: .server).secret
    let whole = try await read(fixture.lists, list, owner, secret)
    #expect(whole.history.count == 31 && whole.shown.count == 30)
    #expect(whole.notes.count == 30 && whole.members.count == 30 && whole.counts == [30, 0, 30])
    await fixture.stores.close()
    for seed in 1...6 {
      let repetition = Repetition(seed: UInt64(seed))
      let again = try ListFixture(fixture.engine, repetition)
      let found = try await read(again.lists, list, owner, secret)
      #expect(found == whole && repetition.discarded > 0)
      await again.stores.close()
    }
  }
}
