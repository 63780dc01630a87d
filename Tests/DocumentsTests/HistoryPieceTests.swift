import TestSupport
import Testing

@testable import Documents

/// Edits of a tree without its old revisions equal edits of the whole tree. The seeds are fixed, so the edits are the
/// same on every machine.
@Suite struct HistoryPieceTests {
  private static let id = DocumentID(stored: "a")

  /// A whole tree, and the same tree in pieces, as an engine stores it.
  private struct TreeForms {
    var plain = RevisionTree()
    var newest = RevisionTree()
    var pieces: [HistoryPiece] = []
    let limit: HistoryLimits

    /// Adds a revision below a leaf in both trees.
    mutating func put(below leaf: RevisionID?, _ number: Int, isDeleted: Bool) throws {
      let body = try DocumentBody(parsing: Array(#"{"n":\#(number)}"#.utf8))
      for isPlain in [true, false] {
        let mutation = try Edit.put(
          HistoryPieceTests.id, in: isPlain ? plain : newest, base: leaf, body: body,
          isDeleted: isDeleted, limit: limit)
        if isPlain { plain = mutation.tree } else { newest = mutation.tree }
      }
      keep()
    }

    /// Inserts a peer's revision below a known one in both trees, unless the limits refuse it in both.
    mutating func graft(below parent: RevisionID, _ number: Int) throws {
      let body = try DocumentBody(parsing: Array(#"{"peer":\#(number)}"#.utf8))
      let history = [body.revision(below: parent, isDeleted: false)] + plain.history(of: parent)
      let whole = try newest.completed(by: pieces)
      let results = [plain, whole].map { tree in
        Result { () throws(DocumentError) in
          try Edit.insert(
            HistoryPieceTests.id, in: tree, history: history, body: body, isDeleted: false,
            known: nil, limit: limit)
        }
      }
      guard case .success(let mutation) = results[0] else {
        #expect(throws: DocumentError.self) { try results[1].get() }
        return
      }
      plain = mutation?.tree ?? plain
      if let other = try results[1].get() { (newest, pieces) = (other.tree, []) }
      keep()
    }

    private mutating func keep() {
      pieces += newest.takePieces()
      pieces.removeAll { $0.last < newest.oldestGeneration }
    }
  }

  @Test(arguments: 0..<24)
  func editsWithoutOldRevisionsEqualThePlainRule(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let limits = [
      HistoryLimits(revisions: 150), HistoryLimits(revisions: 40),
      HistoryLimits(revisions: 1_000, treeBytes: 2_400), HistoryLimits(),
    ]
    var forms = TreeForms(limit: limits[Int(seed % 4)])
    for number in 0..<400 {
      if Int.random(in: 0..<120, using: &generator) == 0,
        let node = forms.plain.nodes.randomElement(using: &generator)
      {
        try forms.graft(below: node.revision, number)
      }
      let leaf = forms.plain.leaves.prefix(2).randomElement(using: &generator)
      let isDeleted = leaf?.isDeleted == false && Int.random(in: 0..<9, using: &generator) == 0
      try forms.put(below: leaf?.revision, number, isDeleted: isDeleted)
      let (plain, newest) = (forms.plain, forms.newest)
      #expect(newest.leaves.map(\.revision) == plain.leaves.map(\.revision))
      #expect(newest.winner?.revision == plain.winner?.revision)
      #expect(newest.count == plain.nodes.count)
      #expect(newest.byteCount == plain.byteCount)
      #expect(newest.openLeafCount == plain.openLeafCount)
      #expect(newest.revisions(withinSteps: 20) == plain.revisions(withinSteps: 20))
      guard number % 16 == 0 else { continue }
      #expect(try newest.completed(by: forms.pieces).parents == plain.parents)
      let decoded = try newest.encoded.withUnsafeBytes { try RevisionTree(decoding: $0) }
      #expect(decoded == newest)
      #expect(decoded.byteCount == newest.byteCount)
    }
    let whole = try forms.newest.completed(by: forms.pieces)
    #expect(whole.parents == forms.plain.parents)
    #expect(whole.leaves == forms.plain.leaves.map { leaf in whole[leaf.revision] ?? leaf })
  }

  /// A line of revisions, some of which are tombstones.
  private func line(_ count: Int, limit: HistoryLimits = .standard) throws -> TreeForms {
    var forms = TreeForms(limit: limit)
    for number in 0..<count {
      try forms.put(
        below: forms.plain.winner?.revision, number, isDeleted: number % 7 == 3)
    }
    return forms
  }

  @Test func aLineKeepsFewRevisionsHoweverOftenItIsEdited() throws {
    var forms = try line(64)
    #expect(forms.pieces.isEmpty)
    for number in 64..<1_500 {
      try forms.put(below: forms.newest.winner?.revision, number, isDeleted: false)
      #expect((33...64).contains(forms.newest.nodes.count))
      #expect(forms.pieces.allSatisfy { $0.count <= HistoryPiece.revisions })
    }
    #expect(try forms.newest.completed(by: forms.pieces) == forms.plain)
    #expect(forms.plain.nodes.count == 1_000)
    #expect(forms.pieces.count <= 1_000 / HistoryPiece.revisions + 1)
  }

  @Test func aTreeIsCompletedByItsEarlierState() throws {
    var forms = try line(300)
    let before = forms.plain
    try forms.put(below: forms.newest.winner?.revision, 300, isDeleted: false)
    #expect(try forms.newest.completed(from: before) == forms.plain)
    #expect(throws: DocumentError.self) { try forms.newest.completed(from: RevisionTree()) }
  }

  @Test func aPieceThatIsMissingOrNoneIsDamage() throws {
    let forms = try line(300)
    for index in forms.pieces.indices {
      var pieces = forms.pieces
      let piece = pieces.remove(at: index)
      #expect(throws: DocumentError.self) { try forms.newest.completed(by: pieces) }
      for bytes in [Array(piece.bytes.dropLast()), [2] + piece.bytes.dropFirst(), []] {
        var pieces = forms.pieces
        pieces[index] = HistoryPiece(generation: piece.generation, bytes: bytes)
        #expect(throws: DocumentError.self) { try forms.newest.completed(by: pieces) }
      }
    }
  }

  @Test func whatNoTreeWouldWriteIsDamage() throws {
    let newest = try line(300).newest
    var none = newest.encoded
    none[0] -= 2
    var more = newest
    more.older = (more.nodes.first?.revision.generation ?? 0)
    for bytes in [none, more.encoded, [5] + newest.encoded.dropFirst()] {
      #expect(throws: DocumentError.self) {
        try bytes.withUnsafeBytes { try RevisionTree(decoding: $0) }
      }
    }
  }

  /// The history may name revisions that are in pieces.
  @Test func aPeersHistoryNeedsTheWholeTree() throws {
    let forms = try line(300)
    let history = forms.plain.history(of: try #require(forms.plain.winner?.revision))
    var (newest, whole) = (forms.newest, forms.plain)
    #expect(throws: DocumentError.self) { try newest.graft(history, isDeleted: false) }
    #expect(try whole.graft(history, isDeleted: false) == .nothing)
  }

  @Test func aTreeOfWhichAllButThePiecesGoesLetsThemGoToo() throws {
    let forms = try line(300)
    let winner = try #require(forms.newest.winner?.revision)
    let rest = forms.newest.purging([winner])
    #expect(rest.nodes.isEmpty)
    #expect(rest.count == 0 && rest.byteCount == 0)
  }

  /// Digests from peers that are words have no fixed length, so they are not put into pieces.
  @Test func wordsStayInTheTree() throws {
    var tree = RevisionTree()
    var last: RevisionID?
    for generation in 1...200 {
      let next = RevisionID(generation: generation, digest: "word")
      try tree.insert(next, below: last, isDeleted: false)
      last = next
    }
    var newest = tree
    #expect(newest.takePieces().isEmpty)
    #expect(newest == tree)
  }
}
