import Documents
import Testing

@Suite struct DocumentBodyTests {
  @Test(
    arguments: [
      ("{}", "{}"),
      (" { } ", "{}"),
      (#"{ "a" : [ 1 , 2 ] }"#, #"{"a":[1,2]}"#),
      (#"{"n":1.0,"m":-0,"e":1e2,"big":12345678901234567890}"#, nil),
      (#"{"b":1,"a":2,"_x":3}"#, #"{"b":1,"a":2}"#),
      (#"{"_x":3}"#, "{}"),
      (#"{"_x":3,"a":1,"_y":{}}"#, #"{"a":1}"#),
      (#"{"\u005fx":3,"\u0061":1}"#, #"{"\u0061":1}"#),
      (
        #" { "_x" : 3 , "b" : [ { "c" : 1 } ] , "a" : { } , "_y" : 4 } "#,
        #"{"b":[{"c":1}],"a":{}}"#
      ),
      (#"{"a":"x  y\/\u00e9"}"#, nil),
    ] as [(String, String?)])
  func keepsTheClientsBytes(_ text: String, _ wanted: String?) throws {
    let body = try DocumentBody.text(text)
    #expect(String(decoding: body.bytes, as: UTF8.self) == wanted ?? text)
  }

  @Test(arguments: [#"{"type":"hotel","b":1,"a":"\u00e9"}"#, "{}", #"{"type":1}"#])
  func bodyThatIsReadBackIsWhatItWas(text: String) throws {
    let body = try DocumentBody.text(text)
    let back = DocumentBody(readingBack: body.bytes)
    #expect(back == body && back.digest == body.digest && back.type == body.type)
  }

  @Test func damagedBodyThatIsReadBackIsNoOther() throws {
    let back = DocumentBody(readingBack: Array(#"{"a":"#.utf8))
    #expect(try back.digest != DocumentBody.text("{}").digest && back.type == nil)
  }

  @Test func digestIgnoresOrderSpaceAndEscapesAlone() throws {
    let body = try DocumentBody.text(#"{"a":1,"b":"é"}"#)
    for text in [
      #"{"b":"\u00e9","a":1}"#, #"{ "a": 1, "b": "é" }"#, #"{"_z":0,"a":1,"b":"é"}"#,
      #"{"_z":{"a":2}, "b" : "\u00e9", "_y":0, "a":1}"#,
    ] {
      #expect(try DocumentBody.text(text).digest == body.digest)
    }
    for text in [#"{"a":1.0,"b":"é"}"#, "{\"a\":1,\"b\":\"e\u{301}\"}", #"{"a":1}"#] {
      #expect(try DocumentBody.text(text).digest != body.digest)
    }
  }

  @Test(
    arguments: [
      (#"{"type":"hotel"}"#, "hotel"), (#"{"type":"h\u00f6"}"#, "hö"), (#"{"type":""}"#, ""),
      (#"{"type":1}"#, nil), (#"{"type":null}"#, nil), ("{}", nil), (#"{"x":{"type":"a"}}"#, nil),
      (#"{"_a":1,"type":"b"}"#, "b"), (#"{"t\u0079pe":"c"}"#, "c"),
    ] as [(String, String?)])
  func knowsTheType(_ text: String, _ type: String?) throws {
    #expect(try DocumentBody.text(text).type == type)
  }

  @Test(arguments: [
    ("[]", DocumentError.Code.invalidDocument), ("1", .invalidDocument), ("", .invalidJSON),
    ("{", .invalidJSON), (#"{"a":1,"a":2}"#, .invalidJSON),
  ])
  func refuses(_ text: String, _ wanted: DocumentError.Code) {
    #expect {
      try DocumentBody.text(text)
    } throws: {
      ($0 as? DocumentError)?.code == wanted
    }
  }

  @Test func aDocumentIsWrittenAsCouchDBDoes() throws {
    let cases = [
      ("{}", false, "", #"{"_id":"a\"","_rev":"1-x"}"#),
      (#"{"n":1.0}"#, false, "", #"{"_id":"a\"","_rev":"1-x","n":1.0}"#),
      (#"{"n":1.0}"#, true, "", #"{"_id":"a\"","_rev":"1-x","_deleted":true,"n":1.0}"#),
      (
        "{}", true, #","_local_seq":1"#,
        #"{"_id":"a\"","_rev":"1-x","_deleted":true,"_local_seq":1}"#
      ),
    ]
    for (body, isDeleted, extra, wanted) in cases {
      let document = Document(
        id: try DocumentID("a\""), revision: try RevisionID("1-x"), isDeleted: isDeleted,
        sequence: 1, created: Timestamp(seconds: 0), updated: Timestamp(seconds: 0),
        body: Array(body.utf8))
      var bytes: [UInt8] = []
      document.append(to: &bytes, extra: Array(extra.utf8))
      #expect(String(decoding: bytes, as: UTF8.self) == wanted)
    }
  }
}
