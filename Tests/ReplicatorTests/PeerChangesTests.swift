import Documents
import Testing

@testable import Replicator

/// The changes that a source answers. Another server may send anything.
struct PeerChangesTests {
  private static func read(_ text: String, atMost limit: Int = 10) async throws -> PeerChanges? {
    try await PeerChanges.read(
      ParsedJSON(Array(text.utf8), limits: .document).root, atMost: limit)
  }

  private static let row = #"{"seq":"1","id":"a","changes":[{"rev":"1-a"},{"rev":"1-b"}]}"#

  @Test func rowsAreReadWithTheirLeaves() async throws {
    let text = #"{"results":[\#(Self.row)],"last_seq":"1-x","pending":3}"#
    let changes = try #require(try await Self.read(text))
    #expect(changes.rows.map(\.id) == ["a"] && changes.rows.first?.revisions == ["1-a", "1-b"])
    #expect(changes.last == "1-x" && changes.pending == 3)
  }

  @Test func moreRowsThanWereAskedForAreABadAnswer() async throws {
    let text = #"{"results":[\#(Self.row),\#(Self.row)],"last_seq":2}"#
    #expect(try await Self.read(text, atMost: 2)?.rows.count == 2)
    #expect(try await Self.read(text, atMost: 1)?.last == nil)
  }

  @Test func longSequenceIsABadAnswer() async throws {
    for (count, isRead) in [(4_000, true), (5_000, false)] {
      let text = #"{"results":[],"last_seq":"\#(String(repeating: "x", count: count))"}"#
      let read = try await Self.read(text)
      #expect((read?.last.string != nil) == isRead)
    }
    for last in ["null", "[]", "{}", "true"] {
      #expect(try await Self.read(#"{"results":[],"last_seq":\#(last)}"#)?.last == nil)
    }
  }

  /// A sum with the number of changes that a source says to follow once overflowed and ended the process.
  @Test func extremeNumbersOfChangesOverflowNothing() async throws {
    let body = #"{"source": "a", "target": "b"}"#
    let request = try ReplicationRequest(ParsedJSON(Array(body.utf8), limits: .small).root)
    for pending in [Int.min, -1, 0, 1, Int.max] {
      let text = #"{"results":[\#(Self.row)],"last_seq":1,"pending":\#(pending)}"#
      let read = try #require(try await Self.read(text)?.pending)
      #expect(read >= 0 && read <= Int.max >> 8)
      var progress = Replication.Progress()
      (progress.changes, progress.pending) = (1 << 50, read)
      let task = Task<ReplicationJobs.Outcome, Never> { .failure(.cancelled) }
      var job = ReplicationJob(
        id: "x", base: "x", number: 1, request, of: nil, at: Timestamp(milliseconds: 0), task)
      job.note(progress, at: Timestamp(milliseconds: 0))
      #expect(job.plainCounts["total"]?.int == (1 << 50) + read)
    }
    #expect(try await Self.read(#"{"results":[],"last_seq":1,"pending":1e99}"#)?.pending == nil)
    #expect(try await Self.read(#"{"results":[],"last_seq":1,"pending":"7"}"#)?.pending == nil)
  }

  /// A feed that named one document again and again once made one question of each row.
  @Test func targetIsAskedOnceAboutEachRevision() async throws {
    var rows = (0..<1_000).map { number in
      PeerChanges.Row(id: "a", revisions: ["1-a", "2-\(number / 2)"])
    }
    rows.append(PeerChanges.Row(id: "b", revisions: ["1-a"]))
    var questions = try await RevisionQuestions(rows)
    #expect(questions.count == 502)
    let bodies = try await questions.bodies()
    #expect(bodies.count == 1)
    let body = try ParsedJSON(try #require(bodies.first), limits: .document).root
    #expect(body["a"]?.count == 501 && body["b"]?.count == 1)
    let positions = ["a", "b", "c"].map { questions.position(of: $0) }
    #expect(positions == [0, 1, nil])
    let removed = [("1-a", 0), ("1-a", 0), ("2-0", 1)].map { questions.remove($0, at: $1) }
    #expect(removed == [true, false, false])
  }

  /// A row with an id of megabytes and as many revisions once took the id's memory for each revision.
  @Test func rowsOfTooManyRevisionsAndTooLongIDsAreRefused() async throws {
    func row(_ id: String, _ count: Int) -> String {
      let changes = repeatElement(#"{"rev":"1-a"}"#, count: count).joined(separator: ",")
      return #"{"results":[{"id":"\#(id)","changes":[\#(changes)]}],"last_seq":1}"#
    }
    let longest = String(repeating: "a", count: PeerChanges.maximumIDBytes)
    #expect(try await Self.read(row(longest, 2))?.rows.count == 1)
    #expect(try await Self.read(row(longest + "a", 2)) == nil)
    await #expect(throws: TooLongAnswer.self) {
      try await Self.read(row("a", PeerChanges.maximumRevisions + 1))
    }
  }

  @Test func manyRevisionsOfOneDocumentAreSeveralQuestions() async throws {
    let revisions = (0..<RevisionQuestions.most * 2 + 1).map { "1-\($0)" }
    let rows = [
      PeerChanges.Row(id: "a", revisions: revisions),
      PeerChanges.Row(id: "b", revisions: ["1-b"]), PeerChanges.Row(id: "c", revisions: []),
    ]
    let questions = try await RevisionQuestions(rows)
    let bodies = try await questions.bodies().map { try ParsedJSON($0, limits: .document).root }
    let counts = bodies.map { body in ["a", "b", "c"].map { body[$0]?.count ?? -1 } }
    #expect(counts == [[5_000, -1, -1], [5_000, -1, -1], [1, 1, -1]])
  }
}
