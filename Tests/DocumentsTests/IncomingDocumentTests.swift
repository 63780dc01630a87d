import Documents
import Testing

@Suite struct IncomingDocumentTests {
  @Test func readsTheReservedFieldsAndKeepsTheRest() throws {
    let document = try IncomingDocument.text(
      #"""
      {"_id":"a", "b": 1.0, "_rev":"2-y", "c":"\u00e9", "_deleted":true,
       "_revisions":{"start":2,"ids":["y","x"]}, "d":{"_id":1}}
      """#)
    #expect(try document.id == DocumentID("a"))
    #expect(try document.revision == RevisionID("2-y"))
    #expect(document.isDeleted)
    #expect(try document.history == RevisionID.list("2-y 1-x"))
    #expect(
      String(decoding: document.body.bytes, as: UTF8.self)
        == #"{"b":1.0,"c":"\u00e9","d":{"_id":1}}"#)
  }

  @Test func nothingIsNeeded() throws {
    let document = try IncomingDocument.text("{}")
    #expect(document.id == nil)
    #expect(document.revision == nil)
    #expect(document.history == nil)
    #expect(!document.isDeleted)
    #expect(document.body == .empty)
  }

  @Test(
    .bug(id: "J07"),
    arguments: [
      #""_deleted":false"#, #""_revs_info":[]"#, #""_conflicts":["1-a"]"#, #""_local_seq":7"#,
      #""_deleted_conflicts":[]"#, #""_attachments":{}"#,
    ])
  func whatCouchDBWritesIsTakenBack(_ member: String) throws {
    let document = try IncomingDocument.text("{\(member),\"x\":1}")
    #expect(document.body.bytes == Array(#"{"x":1}"#.utf8))
  }

  @Test(
    .bug(id: "J07"),
    arguments: [
      (#"{"_id":1}"#, DocumentError.Code.invalidID),
      (#"{"_id":null}"#, .invalidID),
      (#"{"_id":""}"#, .invalidID),
      (#"{"_id":"_x"}"#, .invalidID),
      (#"{"_id":"a\u0000"}"#, .invalidID),
      (#"{"_rev":1}"#, .invalidRevision),
      (#"{"_rev":null}"#, .invalidRevision),
      (#"{"_rev":""}"#, .invalidRevision),
      (#"{"_rev":"x"}"#, .invalidRevision),
      (#"{"_rev":"0-a"}"#, .invalidRevision),
      (#"{"_rev":"18446744073709551616-a"}"#, .invalidRevision),
      (#"{"_rev":"1-0123456789ABCDEF0123456789ABCDEF"}"#, .invalidRevision),
      (#"{"_deleted":"yes"}"#, .invalidDocument),
      (#"{"_deleted":null}"#, .invalidDocument),
      (#"{"_deleted":1}"#, .invalidDocument),
      (#"{"_attachments":{"a":{}}}"#, .invalidAttachment),
      (#"{"_attachments":{"_a":{"stub":true}}}"#, .invalidAttachment),
      (#"{"_attachments":{"a":1}}"#, .invalidAttachment),
      (#"{"_attachments":{"a":{"data":""}, "a\u0000":{"data":""}}}"#, .attachmentLimit),
      (#"{"_attachments":{"a":{"follows":true}}}"#, .invalidAttachment),
      (#"{"_attachments":{"a":{"data":"","content_type":"a\nb"}}}"#, .attachmentLimit),
      (#"{"_attachments":[]}"#, .invalidDocument),
      (#"{"_unknown":1}"#, .invalidDocument),
      (#"{"_":1}"#, .invalidDocument),
      (#"{"\u005fid2":1}"#, .invalidDocument),
      (#"{"_ID":"a"}"#, .invalidDocument),
      ("[]", .invalidDocument),
      ("null", .invalidDocument),
      (#""text""#, .invalidDocument),
    ])
  func reservedFieldsAreChecked(_ text: String, _ wanted: DocumentError.Code) {
    #expect(code(text) == wanted)
  }

  @Test func anEscapedReservedNameIsTheReservedName() throws {
    let document = try IncomingDocument.text(#"{"\u005fid":"a","x":1}"#)
    #expect(try document.id == DocumentID("a"))
    #expect(document.body.bytes == Array(#"{"x":1}"#.utf8))
  }

  @Test(
    .bug(id: "J08"),
    arguments: [
      ("[]", DocumentError.Code.invalidDocument),
      ("null", .invalidDocument),
      (#"{"ids":["a"]}"#, .invalidDocument),
      (#"{"start":1}"#, .invalidDocument),
      (#"{"start":1,"ids":{}}"#, .invalidDocument),
      (#"{"start":1,"ids":[]}"#, .invalidDocument),
      (#"{"start":0,"ids":[]}"#, .invalidDocument),
      (#"{"start":1,"ids":["b","a"]}"#, .invalidDocument),
      (#"{"start":-1,"ids":["a"]}"#, .invalidDocument),
      (#"{"start":"1","ids":["a"]}"#, .invalidDocument),
      (#"{"start":1.0,"ids":["a"]}"#, .invalidDocument),
      (#"{"start":9007199254740993,"ids":["a"]}"#, .invalidRevision),
      (#"{"start":18446744073709551616,"ids":["a"]}"#, .invalidRevision),
      (#"{"start":-18446744073709551616,"ids":["a"]}"#, .invalidDocument),
      (#"{"start":1,"ids":[1]}"#, .invalidDocument),
      (#"{"start":1,"ids":[""]}"#, .invalidRevision),
      (#"{"start":1,"ids":["1-a"],"x":0}"#, nil),
      (#"{"start":1,"ids":["a b"]}"#, .invalidRevision),
    ] as [(String, DocumentError.Code?)])
  func revisionsAreChecked(_ revisions: String, _ wanted: DocumentError.Code?) {
    #expect(code("{\"_revisions\":\(revisions)}") == wanted)
  }

  @Test(.bug(id: "J08"), arguments: ["2-b", "3-a", "2-a"])
  func revisionsWinOverTheRevision(_ revision: String) throws {
    let document = try IncomingDocument.text(
      #"{"_rev":"\#(revision)","_revisions":{"start":2,"ids":["a","b"]}}"#)
    #expect(try document.revision == RevisionID("2-a"))
    #expect(try document.history == RevisionID.list("2-a 1-b"))
  }

  @Test(arguments: DocumentBody.reservedMembers.sorted())
  func membersOfReplicatorsAreStored(_ name: String) throws {
    let document = try IncomingDocument.text("{\"\(name)\":{\"x\":[1]},\"y\":2}")
    #expect(document.body.bytes == Array("{\"\(name)\":{\"x\":[1]},\"y\":2}".utf8))
    #expect(document.body != (try IncomingDocument.text(#"{"y":2}"#)).body)
  }

  @Test(.bug(id: "J08")) func longHistoriesAreTrimmed() throws {
    let ids = (0..<9_000).map { "\"i\($0)\"" }.joined(separator: ",")
    let document = try IncomingDocument.text("{\"_revisions\":{\"start\":10000,\"ids\":[\(ids)]}}")
    let history = try #require(document.history)
    #expect(history.count == HistoryLimits.standard.revisions)
    #expect(history.first?.description == "10000-i0")
    #expect(history.last?.description == "9001-i999")
  }

  @Test func aHistoryThatNamesOneDigestTwiceIsNoCycle() throws {
    let document = try IncomingDocument.text(
      #"{"_rev":"3-a","_revisions":{"start":3,"ids":["a","a","a"]}}"#)
    #expect(try document.history == RevisionID.list("3-a 2-a 1-a"))
  }

  private func code(_ text: String) -> DocumentError.Code? {
    do { _ = try IncomingDocument.text(text) } catch { return (error as? DocumentError)?.code }
    return nil
  }
}
