import Documents
import TestSupport
import Testing

@Suite struct RevisionIDTests {
  @Test(arguments: [
    ("1-a", 1, "a"), ("12-0f", 12, "0f"), ("9007199254740992-a", 1 << 53, "a"), ("1--", 1, "-"),
    ("2-a-b", 2, "a-b"), ("3-A~._-z", 3, "A~._-z"),
    ("1-0123456789abcdef0123456789abcdef", 1, "0123456789abcdef0123456789abcdef"),
    ("1-" + String(repeating: "a", count: 64), 1, String(repeating: "a", count: 64)),
    // 31 digits are no hash, so upper case is allowed.
    ("1-0123456789ABCDEF0123456789ABCDE", 1, "0123456789ABCDEF0123456789ABCDE"),
  ])
  func reads(_ text: String, _ generation: Int, _ digest: String) throws {
    let revision = try RevisionID(text)
    #expect(revision.generation == generation)
    #expect(revision.digest.text == digest)
    #expect(revision.description == text)
  }

  @Test(arguments: [
    "", "-", "1", "1-", "-a", "0-a", "00-a", "01-a", "-1-a", "+1-a", " 1-a", "1 -a", "1-a ", "1- a",
    "a-1", "1.0-a", "1e3-a", "0x1-a", "\u{661}-a", "\u{ff11}-a",
    "9007199254740993-a", "9223372036854775807-a", "9223372036854775808-a",
    "18446744073709551616-a", "99999999999999999999999999999999-a",
    "1-é", "1-a/b", "1-a%2f", "1-a\"b", "1-a\n", "1-a\r\n", "1-\u{0}", "1-a\u{301}",
    "1-0123456789ABCDEF0123456789ABCDEF", "1-0123456789abcdef0123456789abcdeF",
    "1-" + String(repeating: "a", count: 65),
  ])
  func refuses(_ text: String) {
    #expect(throws: DocumentError(.invalidRevision, "Invalid rev format")) { try RevisionID(text) }
  }

  @Test func isOrderedByGenerationThenByBytes() throws {
    let ordered = try RevisionID.list("1-Z 1-a 1-a1 1-b 2-0 9-z 10-a")
    #expect(ordered.shuffled().sorted() == ordered)
  }

  /// A hash is stored as a number and a word as text, so each combination of the two has its own comparison.
  @Test func hashesAndWordsAreOrderedByTheirText() throws {
    let zeros = String(repeating: "0", count: 31)
    let digests = [
      "0", zeros, zeros + "0", zeros + "f", zeros + "00", "9" + zeros, "Z", "a", "a" + zeros,
      "a0" + zeros, "f" + zeros, "g" + zeros,
    ]
    let revisions = try digests.map { try RevisionID("1-" + $0) }
    #expect(Set(revisions).count == digests.count)
    for (revision, digest) in zip(revisions, digests) {
      #expect(revision.digest.text == digest)
      #expect(revision.digest.count == digest.utf8.count)
      var bytes: [UInt8] = []
      revision.digest.append(to: &bytes)
      #expect(bytes == Array(digest.utf8))
      for (other, otherDigest) in zip(revisions, digests) {
        #expect((revision < other) == digest.utf8.lexicographicallyPrecedes(otherDigest.utf8))
        #expect((revision == other) == digest.utf8.elementsEqual(otherDigest.utf8))
      }
    }
  }
}

@Suite struct DocumentIDTests {
  @Test(arguments: [
    "a", " ", "_design/x", "a_b", "%2f", "%2F..", "../..", "a/b", "\r\n", "\u{202e}", "\u{1f3e8}",
    "/\u{338}", "\u{301}", String(repeating: "a", count: 512), String(repeating: "é", count: 256),
  ])
  func keepsEveryByte(_ text: String) throws {
    #expect(try Array(DocumentID(text).text.utf8) == Array(text.utf8))
  }

  @Test(arguments: [
    "", "\u{0}", "a\u{0}b", "_", "_x", "_local/x", "_design", "_design/", "_Design/x",
    "_\u{301}design/x", String(repeating: "a", count: 513), String(repeating: "é", count: 257),
  ])
  func refuses(_ text: String) {
    #expect {
      try DocumentID(text)
    } throws: {
      ($0 as? DocumentError)?.code == .invalidID
    }
  }

  @Test func composedAndDecomposedAreTwoDocuments() throws {
    let (composed, decomposed) = (try DocumentID("caf\u{e9}"), try DocumentID("cafe\u{301}"))
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
  }

  /// Regression: `_all_docs` and `_find` had untitled documents in no order, where CouchDB's clients expect that of creation.
  @Test func untitledIDsAreThirtyTwoHexDigitsInTheOrderOfTime() {
    let ids = (0..<100).map { _ in DocumentID.untitled() }
    #expect(Set(ids).count == 100)
    #expect(ids.allSatisfy { Hex.bytes($0.text.utf8)?.count == 16 })
    let times = ids.map { String($0.text.prefix(16)) }
    #expect(times == times.sorted() && times[0].hasPrefix("1"))
  }

  /// Regression: the answer to a new local document named a place where there is none.
  @Test(arguments: [
    ("a/b", "a%2Fb"), (".", "%2E"), ("..", "%2E%2E"), ("...", "..."),
    ("_design/a/b", "_design/a%2Fb"),
    ("_design/..", "_design/%2E%2E"), ("_local/x", "_local/x"), ("_local/a/b", "_local/a%2Fb"),
    ("é", "%C3%A9"),
  ])
  func pathsLeadToTheirDocuments(id: String, path: String) {
    #expect(PathSegment.path(ofDocument: id) == path)
    #expect(PathSegment.decode(path.utf8) == Array(id.utf8))
  }

  @Test(arguments: ["%", "a%4", "%4g", "%+1", "%%41"])
  func brokenEscapesAreNotDecoded(text: String) {
    #expect(PathSegment.decode(text.utf8) == nil)
  }

  @Test(arguments: ["_local/a", "_local/a/b", "_local/%2F..", "_local/..", "_local/\u{1f3e8}"])
  func localIDsKeepEveryByte(_ text: String) throws {
    #expect(try Array(LocalID(client: text).text.utf8) == Array(text.utf8))
  }

  @Test(arguments: [
    "", "_local", "_local/", "_locals/a", "a", "receipt/x", "_local/\u{0}", "_local\u{301}/x",
    "_local/" + String(repeating: "a", count: 506),
  ])
  func localIDsOfClientsStartWithLocal(_ text: String) {
    #expect {
      try LocalID(client: text)
    } throws: {
      ($0 as? DocumentError)?.code == .invalidID
    }
  }
}
