import Documents
import Testing

@testable import Stores

/// The note about the attachments of a document's revisions.
@Suite struct AttachmentRecordTests {
  private let id = DocumentID(stored: "a")

  /// The names of so many attachments.
  private func names(_ count: Int) -> AttachmentNames {
    AttachmentNames(
      Dictionary(
        uniqueKeysWithValues: (0..<count).map { number in
          (
            AttachmentName(stored: "f\(number)"),
            AttachmentKey(stored: Hex.digest(of: "\(number)", digits: 64))
          )
        }))
  }

  private func revision(_ generation: Int) -> AttachedRevision {
    AttachedRevision(id: id, revision: RevisionID(generation: generation, digest: "a"))
  }

  private func note(_ text: String) -> LocalDocument {
    LocalDocument(revision: 1, body: Array(text.utf8))
  }

  @Test func namesOfManyAttachmentsHaveANoteOfTheirOwn() throws {
    var record = AttachmentRecord()
    var notes: [LocalID: LocalDocument] = [:]
    for (generation, count) in [(1, 1), (2, 100), (3, 100), (4, 101)] {
      let edit = record.set(names(count), of: revision(generation))
      #expect((edit == nil) == (count == 1))
      if let edit { notes[edit.id] = edit.document }
    }
    #expect(Set(record.apart.keys) == Set(notes.keys) && notes.count == 2)
    let stored = try #require(record.note(after: nil))
    #expect(stored.body.count < 500)
    let known = try AttachmentRecord(stored)
    #expect(known == record)
    for (generation, count) in [(1, 1), (2, 100), (3, 100), (4, 101), (5, 0)] {
      let found = try known.names(of: revision(generation).revision) { notes[$0] }
      #expect(found == names(count).keys)
    }
    #expect(try known.keys { notes[$0] } == Set(names(101).keys.values))
    // A note that was lost.
    #expect(try known.names(of: revision(2).revision) { _ in nil } == [:])
    #expect(known.bytes() == stored.body.count + 2 * names(100).json.count + names(101).json.count)
  }

  /// Two documents never share a note: it goes with the last revision of one.
  @Test func documentsWithTheSameNamesHaveNotesOfTheirOwn() throws {
    var (one, other) = (AttachmentRecord(), AttachmentRecord())
    let edits = [
      one.set(names(10), of: revision(1)),
      other.set(
        names(10),
        of: AttachedRevision(id: DocumentID(stored: "b"), revision: revision(1).revision)),
    ]
    #expect(Set(edits.map { $0?.id }).count == 2)
    #expect(edits[0]?.document?.body == edits[1]?.document?.body)
  }

  @Test func noteAtTheLimitTakesFurtherNamesAndALongerOneDoesNot() throws {
    let text = #"{"1-a":{"f":"\#(String(repeating: "0", count: 64))"}}"#
    let full = text + String(repeating: " ", count: AttachmentLimits.noteBytes - text.utf8.count)
    let record = try AttachmentRecord(note(full))
    try record.requireRoom(for: AttachmentLimits.recordBytes - AttachmentLimits.noteBytes)
    #expect(throws: AttachmentRecord.isFull) {
      try record.requireRoom(for: AttachmentLimits.recordBytes - AttachmentLimits.noteBytes + 1)
    }
    #expect(throws: AttachmentRecord.isFull) {
      try AttachmentRecord(note(full + " ")).requireRoom(for: 0)
    }
  }

  /// A former version had all names in the note.
  @Test func longNamesInANoteAreReadAndTakeFurtherOnes() throws {
    let all = names(5_000)
    let text = #"{"1-a":\#(String(decoding: all.json, as: UTF8.self))}"#
    #expect(text.utf8.count > AttachmentLimits.noteBytes)
    var record = try AttachmentRecord(note(text))
    #expect(try record.names(of: revision(1).revision) { _ in nil } == all.keys)
    try record.requireRoom(for: AttachmentLimits.recordBytes - text.utf8.count)
    #expect(record.set(all, of: revision(2)) != nil)
    record.remove { $0.generation == 1 }
    #expect(record.note(after: nil)?.body.count ?? 0 < 100)
    #expect(record.keysHere.isEmpty && record.dropped.keys.isEmpty)
  }
}
