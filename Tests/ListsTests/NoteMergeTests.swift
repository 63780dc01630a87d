import Hotels
import Stores
import Testing

@testable import Lists

/// Changes of a note that meet another one between their reading and their writing.
@Suite struct NoteMergeTests {
  /// Regression: of the texts that replaced whatever was there, one was written at a time, and all others were read anew.
  @Test func changeWithoutABaseAppliesToWhatIsStoredThen() async throws {
    #expect(try await outcome(from: .present) == "two")
    #expect(try await outcome(from: .present, removing: true) == "removed")
  }

  @Test func changeWithABaseIsMergedAnew() async throws {
    #expect(try await outcome(from: .seen(nil)) == nil)
  }

  /// Writes another text between the reading of a change and its writing.
  /// - Returns: the note's text then; nil if the change must be merged anew.
  private func outcome(
    from base: ListDraft.Base, removing: Bool = false
  ) async throws -> String? {
    let fixture = try ListFixture()
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let change = try NoteChange("Plan", removing ? nil : "two", on: list, from: base)
    return try await fixture.stores.withExisting(.list(list)) { store in
      var merge = try await store.read { view in try NoteMerge(change, view) }
      try await merge.merge()
      _ = try await fixture.lists.putNote("Plan", "one", on: list, condition: .none, as: .server)
      return try await store.update(as: .server) { [merge] changes in
        try changes.write(merge, .none).map { $0.note?.markdown ?? "removed" }
      }
    }
  }
}
