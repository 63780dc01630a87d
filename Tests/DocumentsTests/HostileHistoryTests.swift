import Documents
import Glibc
import Testing

/// Unusual and hostile histories, and very many of them (FAULTS J08 to J10).
@Suite struct HostileHistoryTests {
  private let id = DocumentID(stored: "a")

  private func insert(
    _ history: String, _ text: String = "{}", isDeleted: Bool = false, in tree: RevisionTree?,
    known: String? = nil
  ) throws -> Mutation? {
    try Edit.insert(
      id, in: tree, history: RevisionID.list(history), body: .text(text), isDeleted: isDeleted,
      known: known.map { try .text($0) })
  }

  private func code(_ edit: () throws -> some Any) -> DocumentError.Code? {
    do { _ = try edit() } catch { return (error as? DocumentError)?.code }
    return nil
  }

  /// The tree is the same, whatever the order in which a document's revisions arrive.
  @Test(
    .bug(id: "J09"),
    arguments: [
      ["1-a", "2-b 1-a", "3-c 2-b 1-a", "2-d 1-a"], ["3-c 2-b 1-a", "2-d 1-a", "2-b 1-a", "1-a"],
      ["2-d 1-a", "1-a", "3-c 2-b 1-a", "3-c 2-b 1-a"],
      ["3-c", "2-d 1-a", "2-b 1-a", "3-c 2-b 1-a"],
      ["3-c", "2-d", "1-a", "2-d 1-a", "2-b 1-a", "3-c 2-b"],
    ])
  func revisionsComeInAnyOrderAndTwice(_ arrivals: [String]) throws {
    var tree: RevisionTree?
    for arrival in arrivals + arrivals {
      if let mutation = try insert(arrival, in: tree) { tree = mutation.tree }
    }
    #expect(try TreeDrawing.draw(#require(tree)) == "1-a(2-b(3-c*) 2-d)")
  }

  /// A known revision adds no body, even if its history adds ancestors.
  @Test(.bug(id: "J09")) func longerHistoryOfAKnownRevisionAddsNoBody() throws {
    let tree = try TreeDrawing.tree("1-a 3-c†")
    let mutation = try #require(
      try insert("3-c 2-b 1-a", isDeleted: true, in: tree, known: "{}"))
    #expect(TreeDrawing.draw(mutation.tree) == "1-a(2-b(3-c†*))")
    #expect(mutation.body == nil)
    #expect(
      code { try insert("3-c 2-b 1-a", #"{"n":1}"#, isDeleted: true, in: tree, known: "{}") }
        == .revisionCollision)
  }

  /// Ancestors beyond the store's limit are dropped at once, so they are no change.
  @Test(.bug(id: "J09")) func ancestorsBeyondTheLimitAreNoMutation() throws {
    let tree = try TreeDrawing.tree("3-c(4-d)")
    for history in ["4-d 3-c 2-b 1-a", "3-c 2-b 1-a"] {
      let mutation = try Edit.insert(
        id, in: tree, history: RevisionID.list(history), body: .empty, isDeleted: false, known: nil,
        limit: HistoryLimits(revisions: 2))
      #expect(mutation == nil)
    }
    let mutation = try Edit.insert(
      id, in: tree, history: RevisionID.list("4-d 3-c 2-b 1-a"), body: .empty, isDeleted: false,
      known: nil, limit: HistoryLimits(revisions: 3))
    #expect(mutation.map { TreeDrawing.draw($0.tree) } == "2-b(3-c(4-d*))")
  }

  /// A document with the maximum number of leaves accepts a longer history of a known revision, which opens no branch.
  @Test(.bug(id: "J09")) func longerHistoriesAreTakenAtTheCap() throws {
    var tree = RevisionTree()
    for branch in 0..<HistoryLimits.standard.liveLeaves {
      try tree.graft(RevisionID.list("3-\(branch)"), isDeleted: false)
    }
    let grown = try #require(try insert("3-7 2-x 1-a", in: tree)).tree
    #expect(grown.nodes.count == HistoryLimits.standard.liveLeaves + 2)
    #expect(grown.leaves.count == HistoryLimits.standard.liveLeaves)
  }

  @Test(.bug(id: "J09")) func partialAncestryIsJoinedByTheNextRevision() throws {
    var tree = try #require(try insert("3-c 2-b", in: nil)).tree
    tree = try #require(try insert("4-d 3-c 2-b 1-a", in: tree)).tree
    #expect(TreeDrawing.draw(tree) == "1-a(2-b(3-c(4-d*)))")
  }

  @Test(.bug(id: "J09")) func knownRevisionWithAnotherBodyIsCollision() throws {
    let tree = try TreeDrawing.tree("1-a(2-b 2-c†)")
    let body = #"{"n":1.0}"#
    #expect(
      code { try insert("2-b 1-a", #"{"n":1.5}"#, in: tree, known: body) } == .revisionCollision)
    #expect(
      code { try insert("2-b 1-a", body, isDeleted: true, in: tree, known: body) }
        == .revisionCollision)
    #expect(code { try insert("2-c 1-a", in: tree, known: "{}") } == .revisionCollision)
    #expect(try insert("2-c 1-a", isDeleted: true, in: tree, known: "{}") == nil)
    #expect(try insert("2-b 1-a", body, in: tree, known: body) == nil)
    // The ancestor `1-a` is stored without a body, so no body contradicts it.
    #expect(try insert("1-a", #"{"n":1}"#, in: tree) == nil)
  }

  @Test(
    .bug(id: "J09"),
    arguments: [
      #"{"n":1000,"t":"1e3"}"#, #"{"t":"1e3","n":1000.0}"#, #"{ "n": 10E2, "t": "1e3" }"#,
    ])
  func knownRevisionWithANumberInAnotherSpellingIsKnown(body: String) throws {
    let tree = try TreeDrawing.tree("1-a(2-b)")
    #expect(try insert("2-b 1-a", body, in: tree, known: #"{"n":1e3,"t":"1e3"}"#) == nil)
    // The revision's id is still made of the number as written.
    let (one, other) = (try DocumentBody(parsing: Array(body.utf8)), #"{"n":1e3,"t":"1e3"}"#)
    #expect(one.digest != (try DocumentBody(parsing: Array(other.utf8)).digest))
  }

  @Test(.bug(id: "J09")) func historyThatContradictsTheTreeChangesNoParent() throws {
    let tree = try TreeDrawing.tree("1-a(2-b)")
    let mutation = try insert("3-c 2-b 1-z", in: tree)
    #expect(mutation.map { TreeDrawing.draw($0.tree) } == "1-a(2-b(3-c*))")
  }

  @Test(.bug(id: "J08")) func tenThousandIDsAreTrimmedWhereTheyAreStored() throws {
    let ids = (0..<10_000).map { "\"i\($0)\"" }.joined(separator: ",")
    let document = try IncomingDocument.text(
      "{\"_rev\":\"10000-i0\",\"_revisions\":{\"start\":10000,\"ids\":[\(ids)]}}")
    let history = try #require(document.history)
    let mutation = try Edit.insert(
      id, in: nil, history: history, body: .empty, isDeleted: false, known: nil)
    #expect(mutation?.tree.nodes.count == HistoryLimits.standard.revisions)
    #expect(mutation?.tree.winner?.revision.description == "10000-i0")
  }

  @Test(.bug(id: "J10"), .timeLimit(.minutes(60))) func thousandBranchesAreRefusedBeyondTheCap()
    throws
  {
    var tree: RevisionTree?
    var refused = 0
    for branch in 0..<1_000 {
      do {
        tree = try insert("3-\(branch) 2-\(branch) 1-a", in: tree)?.tree
      } catch let error as DocumentError {
        #expect(error.code == .tooManyLeaves)
        refused += 1
      }
    }
    #expect(refused == 1_000 - HistoryLimits.standard.liveLeaves)
    #expect(tree?.winner?.revision.description == "3-99")
    #expect(tree?.conflicts.count == HistoryLimits.standard.liveLeaves - 1)
  }

  /// With many long histories, a graft goes through the tree a few times for each revision, not once for each of its
  /// ancestors.
  @Test(.bug(id: "J10"), .timeLimit(.minutes(60))) func longBranchesStayQuick() throws {
    var tree = RevisionTree()
    for branch in 0..<16 {
      try tree.graft(
        (0..<1_000).map { RevisionID(generation: 1_000 - $0, digest: "\(branch)x\($0)") },
        isDeleted: false)
    }
    for branch in 16..<HistoryLimits.standard.liveLeaves {
      try tree.graft([RevisionID(generation: 1, digest: "\(branch)")], isDeleted: false)
    }
    #expect(tree.nodes.count == 16_496)
    let history = (0..<1_000).map { RevisionID(generation: 1_001 - $0, digest: "y\($0)") }
    let refusal = code { try tree.graft(history, isDeleted: false) }
    #expect(refusal == .tooManyLeaves)
    // A hundredth of the history costs about a hundredth. If each ancestor counted, it would be a ten-thousandth.
    let part = try processorTime(ofGrafting: Array(history.prefix(10)), to: tree)
    #expect(try processorTime(ofGrafting: history, to: tree) < part * 1_000)
    let growth = try tree.graft(history, isDeleted: true)
    #expect(growth == .revision)
    #expect(tree.winner?.revision.description == "1000-9x0")
  }

  /// The processor time of one graft, which is the same on a busy machine.
  private func processorTime(
    ofGrafting history: [RevisionID], to tree: RevisionTree
  ) throws -> Duration {
    var (tree, start, end) = (tree, timespec(), timespec())
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    try tree.graft(history, isDeleted: true)
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
    return .seconds(end.tv_sec - start.tv_sec) + .nanoseconds(end.tv_nsec - start.tv_nsec)
  }
}
