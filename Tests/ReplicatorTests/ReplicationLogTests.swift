import Documents
import Testing

@testable import Replicator

/// Checkpoints and their comparison.
struct ReplicationLogTests {
  private static func log(_ sessions: [(String, Int)]) -> ReplicationLog {
    var log = ReplicationLog()
    guard let first = sessions.first else { return log }
    log.body = [
      "session_id": .string(first.0), "source_last_seq": .count(first.1),
      "history": .array(
        sessions.map { ["session_id": .string($0.0), "recorded_seq": .count($0.1)] }),
    ]
    return log
  }

  private static func since(_ source: [(String, Int)], _ target: [(String, Int)]) -> Int? {
    ReplicationLog.common(source: log(source), target: log(target)).since.int
  }

  @Test func theSameSessionOnBothEndsGoesOnWhereItEnded() {
    #expect(Self.since([("b", 9), ("a", 5)], [("b", 9), ("a", 5)]) == 9)
  }

  @Test func theLastCommonSessionCounts() {
    #expect(Self.since([("c", 12), ("b", 9), ("a", 5)], [("b", 9), ("a", 5)]) == 9)
    #expect(Self.since([("b", 9), ("a", 5)], [("c", 12), ("a", 5)]) == 5)
    #expect(Self.since([("c", 12), ("a", 5)], [("d", 13), ("b", 7), ("a", 5)]) == 5)
  }

  @Test func withoutCommonSessionAllIsRead() {
    #expect(Self.since([("a", 5)], [("b", 5)]) == 0)
    #expect(Self.since([], [("b", 5)]) == 0)
    #expect(Self.since([], []) == 0)
  }

  @Test func logNamesFiftySessions() throws {
    let older = (0..<60).map { JSONObject([("session_id", JSONValue.string("s\($0)"))]) }
    let session = ReplicationSession(
      id: "new", began: Timestamp(seconds: 784_111_777), since: 3, history: older,
      isByDocuments: false)
    var statistics = ReplicationStatistics()
    statistics.checked = 7
    let log = session.log(
      upTo: "9-x", statistics, at: Timestamp(seconds: 784_111_778))
    #expect(log["source_last_seq"] == "9-x")
    #expect(log["replication_id_version"] == 4)
    let history = try #require(log["history"]?.array)
    #expect(history.count == 50)
    #expect(history[1]["session_id"] == "s0")
    #expect(history[0]["start_time"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(history[0]["start_last_seq"] == 3)
    #expect(history[0]["recorded_seq"] == "9-x")
    #expect(history[0]["missing_checked"] == 7)
    #expect(ReplicationStatistics(history[0].object) == statistics)
  }

  @Test func logOfAPeerIsReadWhateverItsForm() throws {
    for text in [
      #"{"_rev":"0-1","history":1,"session_id":2}"#, #"{"history":[1,{"session_id":[]}]}"#,
      #"{"source_last_seq":null}"#,
    ] {
      let log = ReplicationLog(try ParsedJSON(Array(text.utf8), limits: .small).root)
      #expect(ReplicationLog.common(source: log, target: log).since.int == 0)
    }
    let wrong = ReplicationStatistics(["docs_read": -5, "docs_written": "x"])
    #expect(wrong == ReplicationStatistics())
  }

  @Test func onlyWhatIsNeededOfAPeersLogIsKept() throws {
    let long = String(repeating: "9", count: 5_000)
    let entry = #"{"session_id":"a","recorded_seq":"5-x","x":1,"end_last_seq":"\#(long)"}"#
    let history = Array(repeating: entry, count: 60).joined(separator: ",")
    let text =
      #"{"_rev":"0-1","session_id":"a","source_last_seq":"\#(long)","x":{"y":1},"history":[\#(history)]}"#
    let log = ReplicationLog(try ParsedJSON(Array(text.utf8), limits: ReplicationLog.limits).root)
    #expect(log.revision == "0-1" && log.body.members.map(\.name) == ["session_id", "history"])
    let sessions = log.body["history"]?.array ?? []
    #expect(sessions.count == 50)
    #expect(sessions.first?.object?.members.map(\.name) == ["session_id", "recorded_seq"])
    #expect(ReplicationLog.common(source: log, target: log).since.int == 0)
  }

  /// Many members once made the reading quadratic.
  @Test func logOfManyMembersIsNotRead() {
    let members = (0..<200).map { #""m\#($0)":1"# }.joined(separator: ",")
    #expect(throws: JSONError.self) {
      try ParsedJSON(Array("{\(members)}".utf8), limits: ReplicationLog.limits)
    }
  }

  @Test func batchesAdapt() {
    var size = BatchSize()
    // Three round trips to a distant server once kept batches at their first size.
    size.note(.seconds(3), isSplit: false)
    #expect(size.count == 200)
    for _ in 0..<9 { size.note(.milliseconds(1), isSplit: false) }
    #expect(size.count == BatchSize.bounds.upperBound)
    size.note(.seconds(5), isSplit: false)
    #expect(size.count == BatchSize.bounds.upperBound)
    size.note(.seconds(11), isSplit: false)
    #expect(size.count == 250)
    for _ in 0..<9 { size.note(.milliseconds(1), isSplit: true) }
    #expect(size.count == BatchSize.bounds.lowerBound)
  }

  private static func begunRun() -> Replication.Run {
    Replication.Run(
      id: "r", code: nil,
      session: ReplicationSession(
        id: "s", began: Timestamp(milliseconds: 0), since: 0, history: [], isByDocuments: false),
      sourceTime: "1", targetTime: "2", sourceLog: ReplicationLog(), targetLog: ReplicationLog(),
      progress: .init(), answer: [:])
  }

  /// A person once saw a total that grew while the first changes were copied.
  @Test func changesThatAreBeingCopiedArePending() {
    var run = Self.begunRun()
    run.noteRead(3, following: 10)
    #expect(run.progress.pending == 13)
    run.noteRead(10, following: 0)
    #expect(run.progress.pending == 13)
    run.finish(Batch.Result(number: 0, last: 3, changes: 3))
    #expect(run.progress.pending == 10 && run.progress.changes == 3)
    run.noteRead(1, following: nil)
    #expect(run.progress.pending == nil)
  }

  /// Regression: what was copied before a wait was noted after it, up to 20 seconds late.
  @Test func waitForAChangeEndsAtTheNextCheckpoint() throws {
    var run = Self.begunRun()
    let waits = ReplicationPeer.waits
    for (options, committed, isShort) in [
      (#""checkpoint_interval":1000"#, JSONValue(0), true),
      (#""checkpoint_interval":1000"#, 7, false), (#""checkpoint_interval":3600000"#, 0, false),
      (#""checkpoint_interval":1000,"use_checkpoints":false"#, 0, false),
    ] {
      let body = #"{"source":"a","target":"b","continuous":true,\#(options)}"#
      let request = try ReplicationRequest(ParsedJSON(Array(body.utf8), limits: .small).root)
      (run.progress.through, run.progress.committed) = (7, committed)
      let wait = run.wait(request)
      #expect(isShort ? wait <= .seconds(1) : wait == waits.upperBound)
    }
  }

  @Test func onlyTheAskedRevisionIsTaken() throws {
    let asked = MissingRevision(id: "a", revision: "2-b", ancestors: [])
    for (text, isTaken) in [
      (#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}}"#, true),
      (#"{"_id":"b","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}}"#, false),
      (#"{"_id":"a","_rev":"3-c","_revisions":{"start":3,"ids":["c","b","a"]}}"#, false),
      (#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["x","a"]}}"#, false),
      (#"{"_id":"a","_rev":"2-b","_revisions":{"start":7,"ids":["b"]}}"#, false),
      (#"{"_id":"a","_rev":"2-b"}"#, false), (#"[]"#, false),
    ] {
      let node = try ParsedJSON(Array(text.utf8), limits: .small).root
      #expect(asked.isAnswered(by: node) == isTaken)
    }
  }

  @Test func boundaryIsReadWithAndWithoutQuotationMarks() {
    #expect(AttachedTransfer.boundary(#"multipart/related; boundary="a-b""#) == "a-b")
    #expect(AttachedTransfer.boundary("multipart/related;boundary=ab; x=y") == "ab")
    #expect(AttachedTransfer.boundary("application/json") == nil)
    #expect(AttachedTransfer.boundary(#"multipart/related; boundary="""#) == nil)
  }
}
