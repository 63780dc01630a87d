import Documents
import StoreTesting
import Stores
import Testing

@testable import CouchSync

@Suite struct AttachmentTests {
  @Test func stubIsTheFirstMemberOfTheStoredBody() async throws {
    let couch = try await Couch()
    try await couch.put(
      "a", #"{"n":1,"_attachments":{"f":{"data":"aGk=","content_type":"text/plain"}}}"#)
    let body = try #require(try await couch.store.document(DocumentID("a"))?.body)
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"_attachments":{"f":{"content_type":"text/plain","revpos":1,"#
        + #""digest":"md5-SfaKXIST7CwL9ImCHCH8Ow==","length":2,"stub":true}},"n":1}"#)
  }

  @Test func revisionCoversTheAttachments() async throws {
    let (one, two) = (try await Couch(), try await Couch())
    let first = try await one.put("a", #"{"_attachments":{"f":{"data":"aGk="}}}"#)
    #expect(try await two.put("a", #"{"_attachments":{"f":{"data":"aGk="}}}"#) == first)
    #expect(try await Couch().put("a", #"{"_attachments":{"f":{"data":"aG8="}}}"#) != first)
    #expect(try await Couch().put("a") != first)
  }

  @Test func emptyAttachmentsAreNone() async throws {
    let couch = try await Couch()
    #expect(try await couch.put("a", #"{"_attachments":{}}"#) == Couch().put("a"))
  }

  /// Revisions of one request are committed together, and the second may name what the first brought.
  @Test func stubOfOneRequestNamesWhatCameBeforeInIt() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","_attachments":{"f":{"data":"aGk="}}"#)
    let answer = try await couch.bulk(
      """
      {"new_edits":false,"docs":[
      {"_id":"b","_rev":"1-a","_attachments":{"f":{"data":"aGk="}}},
      {"_id":"b","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},
       "_attachments":{"f":{"stub":true,"revpos":1}}}]}
      """)
    #expect(answer.text == "[]")
    let name = try AttachmentName("f")
    let (found, pieces) = try await couch.database.attachment(
      name, of: DocumentID("b"), nil, withBytesUpTo: 1)
    #expect(pieces == nil)
    #expect(try await couch.database.bytes(0..<2, of: found.facts) == [Array("hi".utf8)])
    #expect(found.facts.documents == 2)
  }

  @Test func attachmentOfAPeerThatPacksItsOwnIsTakenByName() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","_attachments":{"f":{"data":"aGk="}}"#)
    try await couch.graft(
      "a", "2-b", "1-a",
      body: #","_attachments":{"f":{"stub":true,"digest":"md5-packed","revpos":1,"length":2}}"#)
    let stubs = try await couch.get("a").json["_attachments"]?["f"]
    #expect(stubs?["digest"] == "md5-SfaKXIST7CwL9ImCHCH8Ow==")
  }

  @Test func olderAttachmentsStayStubsForAClientThatHasThem() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a", #"{"_attachments":{"f":{"data":"aGk="}}}"#)
    try await couch.put(
      "a", #"{"_attachments":{"f":{"stub":true},"g":{"data":"aG8="}}}"#, rev: first)
    let answer = try await couch.get("a", ("atts_since", "[\"\(first)\",\"1-x\"]")).json
    #expect(answer["_attachments"]?["f"]?["stub"] == true)
    #expect(answer["_attachments"]?["g"]?["data"] == "aG8=")
    // A revision that can't be stored is none that the client has.
    for query in [("attachments", "true"), ("atts_since", #"["0-x"]"#)] {
      let all = try await couch.get("a", query).json
      #expect(all["_attachments"]?["f"]?["data"] == "aGk=")
    }
    let tooMany = "[" + Array(repeating: #""1-a""#, count: 1_001).joined(separator: ",") + "]"
    for wrong in ["1-a", #"["x"]"#, tooMany] {
      #expect(await refusal { try await couch.get("a", ("atts_since", wrong)) }.hasPrefix("400"))
    }
  }

  @Test func documentHasAtMostSoManyAttachments() async throws {
    let couch = try await Couch()
    func body(_ count: Int) -> String {
      let all = (0..<count).map { "\"\($0)\":{\"data\":\"\"}" }.joined(separator: ",")
      return "{\"_attachments\":{\(all)}}"
    }
    let revision = try await couch.put("a", body(IncomingAttachment.most))
    #expect(
      await refusal { try await couch.put("b", body(IncomingAttachment.most + 1)) }
        == "400 bad_request")
    var upload = AttachmentUpload(limit: 1)
    try upload.append([1])
    let sent = SentAttachment(
      name: try AttachmentName("more"), contentType: "text/plain", upload.finish())
    let base = try BaseRevision(query: revision, ifMatch: nil)
    #expect(
      await refusal {
        try await couch.database.putAttachment(sent, to: DocumentID("a"), base: base)
      }
        == "400 bad_request")
  }

  @Test func longStringIsRefusedThoughAttachmentsMayBeLonger() async throws {
    let couch = try await Couch()
    let long = String(repeating: "A", count: 600_000)
    let limits = DocumentLimits.standard
    #expect(
      await refusal {
        let text = Array("{\"x\":\"\(long)\"}".utf8)
        return try await couch.database.put(
          DocumentID("a"), CouchBody.parse(text, limits: limits.document))
      } == "400 string_too_long")
    let text = Array("{\"_attachments\":{\"f\":{\"data\":\"\(long)\"}}}".utf8)
    _ = try await couch.database.put(
      DocumentID("a"), CouchBody.parse(text, limits: limits.document))
    let (found, pieces) = try await couch.database.attachment(
      AttachmentName("f"), of: DocumentID("a"), nil, withBytesUpTo: 450_000)
    #expect(found.facts.length == 450_000)
    #expect(pieces?.map(\.count) == [Int](repeating: 65_536, count: 6) + [56_784])
  }
}
