import Documents
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

  /// Others change the last line before each read and each update of the note's store.
  @Test(.bug(id: "35/27")) func noteThatOthersChangeAllTheTimeIsAConflict() async throws {
    let fixture = try ListFixture(before: { number, storage in
      try await storage.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
        var note: (id: DocumentID, revision: RevisionID, members: JSONObject)?
        try changes.view.documents(DocumentRange()) { document in
          let value = try JSONValue(parsing: document.body, limits: .stored)
          guard let members = value.object, members["title"] == "Plan" else { return true }
          note = (document.id, document.revision, members)
          return false
        }
        guard var note else { return }
        note.members["markdown"] = .string("a\nb\nc\(number)")
        try changes.put(note.id, base: note.revision, body: try DocumentBody(.object(note.members)))
      }
    })
    let owner = try await fixture.account("ann")
    let list = try await fixture.list(of: owner, "ann")
    let first = try await fixture.lists.putNote(
      "Plan", "a\nb\nc", on: list, condition: .none, as: .server
    ).note
    let conflict = await #expect(throws: NoteConflict.self) {
      try await fixture.lists.putNote(
        "Plan", "A\nb\nc", from: .seen(first.revision), on: list, condition: .none, as: .server)
    }
    #expect(conflict?.base == "a\nb\nc")
    #expect(conflict?.mine == "A\nb\nc")
    #expect(conflict?.theirs?.markdown.hasPrefix("a\nb\nc") == true)
    #expect(try await fixture.lists.note("Plan", of: list)?.markdown.hasPrefix("a") == true)
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
