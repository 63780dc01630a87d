import Documents
import Stores
import Testing

@testable import Replicator

/// What a body of `_replicate` means.
struct ReplicationRequestTests {
  private static func request(_ text: String) throws -> ReplicationRequest {
    try ReplicationRequest(try ParsedJSON(Array(text.utf8), limits: .request).root)
  }

  private static func id(source: String, target: String = "\"b\"", rest: String = "") throws
    -> String
  {
    try request("{\"source\":\(source),\"target\":\(target)\(rest)}").id(on: "server")
  }

  @Test func credentialsAreNotPartOfAName() throws {
    let request = try Self.request(
      #"{"source":"https://ada:a%20b@h.example:6984/x","target":{"url":"Http://h/y/","auth":{"basic":{"username":"u","password":"secret"}},"headers":{"X-A":"1","Host":"other"}}}"#
    )
    #expect(request.source.name == "https://h.example:6984/x/")
    #expect(request.source.user == "ada")
    #expect(request.source.authorization == "Basic YWRhOmEgYg==")
    #expect(request.target.authorization == "Basic dTpzZWNyZXQ=")
    #expect(request.target.fields == [.init(name: "x-a", value: "1")])
    #expect("\(request.source) \(request.target)" == "https://h.example:6984/x/ http://h/y/")
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!dumped.contains("YWRhOmEgYg") && !dumped.contains("secret"))
  }

  @Test func theSameEndsHaveTheSameIDWhateverThePassword() throws {
    let plain = try Self.id(source: #""http://ada:one@h/x""#)
    #expect(plain.utf8.count == 32)
    #expect(try Self.id(source: #""http://ada:two@h:5984/x/""#) == plain)
    #expect(
      try Self.id(
        source: #"{"url":"http://h/x","auth":{"basic":{"username":"ada","password":"3"}}}"#)
        == plain)
    for other in [#""http://bob:one@h/x""#, #""http://h/x""#, #""http://ada:one@h:81/x""#, #""x""#]
    {
      #expect(try Self.id(source: other) != plain)
    }
  }

  @Test func filtersAndOptionsAreInTheID() throws {
    let plain = try Self.id(source: #""a""#)
    let documents = try Self.id(source: #""a""#, rest: #","doc_ids":["b","a%2B","b"]"#)
    #expect(documents != plain)
    #expect(try Self.id(source: #""a""#, rest: #","doc_ids":["a+","b"]"#) == documents)
    #expect(try Self.id(source: #""a""#, rest: #","selector":{"a":1}"#) != plain)
    #expect(
      try Self.id(source: #""a""#, rest: #","selector":{"a":1,"b":2}"#)
        == Self.id(source: #""a""#, rest: #","selector":{ "b":2,"a":1}"#))
    let designs = try Self.id(source: #""a""#, rest: #","filter":"_design""#)
    #expect(designs != plain)
    #expect(
      try Self.id(source: #""a""#, rest: #","filter":"_design","query_params":{"a":1}"#) != designs)
    let remote = #""http://h/a""#
    #expect(
      try Self.id(source: remote, rest: #","filter":"d/f","query_params":{"a":1,"b":"2"}"#)
        == Self.id(source: remote, rest: #","query_params":{"b":"2","a":"1"},"filter":"d/f""#))
    #expect(try Self.id(source: #""a""#, rest: #","filter":"","query_params":{"a":1}"#) == plain)
    #expect(try Self.id(source: #""a""#, rest: #","winning_revs_only":true"#) != plain)
    let later = try Self.id(source: #""a""#, rest: #","since_seq":"7-x""#)
    #expect(later != plain)
    #expect(try Self.id(source: #""a""#, rest: #","since_seq":7"#) != later)
    #expect(try Self.id(source: #""a""#, rest: #","since_seq":null"#) == plain)
    #expect(
      try Self.id(source: #""a""#, rest: #","continuous":true,"create_target":true"#) == plain
        + "+continuous+create_target")
  }

  /// Regression: one administrator's request ended that of another one, who waited for the same replication.
  @Test func whoAsksMakesNoOtherReplication() throws {
    let body = try ParsedJSON(Array(#"{"source":"a","target":"b"}"#.utf8), limits: .request).root
    let (ann, bob) = (
      try ReplicationRequest(body, by: "ann"), try ReplicationRequest(body, by: "bob")
    )
    #expect(ann.user == "ann" && bob.user == "bob" && ann.isSame(as: bob))
    #expect(!ann.isSame(as: try Self.request(#"{"source":"a","target":"b","use_bulk_get":false}"#)))
  }

  /// Source: CouchDB, `couch_replicator_docs:before_doc_update_owner/4`.
  @Test(arguments: [
    ("", "ann"), (#","owner":null"#, "ann"), (#","owner":"bob""#, "bob"),
    (#","_replication_state":"failed""#, "ann"), (#","_deleted":true"#, nil),
  ])
  func documentNamesItsOwner(rest: String, owner: String?) throws {
    let text = #"{"_id":"a","source":"a","target":"b","n":1.0\#(rest)}"#
    let body = try ParsedJSON(Array(text.utf8), limits: .request).root
    let checked = try ReplicationRequest.checked(body, by: "ann")
    #expect(checked["owner"]?.string == owner && checked["n"]?.minified == Array("1.0".utf8))
    #expect(checked.members.count(where: { $0.nameEquals("owner") }) == (owner == nil ? 0 : 1))
  }

  /// Source: CouchDB, `couch_replicator_parse:convert_options/1` and `check_options/1`.
  @Test(arguments: [
    (#""cancel":1"#, "parameter `cancel` must be a boolean"),
    (#""continuous":"true""#, "parameter `continuous` must be a boolean"),
    (#""create_target":"true""#, "parameter `create_target` must be a boolean"),
    (#""winning_revs_only":"foo""#, "parameter `winning_revs_only` must be a boolean"),
    (#""use_bulk_get":0"#, "parameter `use_bulk_get` must be a boolean"),
    (#""create_target_params":[]"#, "parameter `create_target_params` must be a JSON object"),
    (#""query_params":42"#, "parameter `query_params` must be an object"),
    (#""filter":"f""#, "Invalid filter. Must match `ddocname/filtername`."),
    (#""filter":7"#, "Invalid filter. Must match `ddocname/filtername`."),
    (#""doc_ids":"a""#, "parameter `doc_ids` must be an array"),
    (#""selector":[]"#, "parameter `selector` must be a JSON object"),
    (#""doc_ids":[],"filter":"a/b""#, "`doc_ids`,`filter`,`selector` are mutually exclusive"),
    (#""selector":{},"filter":"a/b""#, "`doc_ids`,`filter`,`selector` are mutually exclusive"),
  ])
  func malformedOptionHasCouchDBsWords(option: String, reason: String) throws {
    let body = try ParsedJSON(
      Array(#"{"source":"a","target":"b",\#(option)}"#.utf8), limits: .request
    ).root
    let error = #expect(throws: ServiceError.self) {
      _ = try ReplicationCancellation.isAsked(body)
      _ = try ReplicationRequest(body)
    }
    #expect(error?.code == .badRequest && error?.reason == reason)
  }

  @Test func targetIsCreatedWithTheGivenQuery() throws {
    let request = try Self.request(
      #"{"source":"a","target":"b","create_target_params":{"q":"2","n":1,"é&":true}}"#)
    #expect(request.creation == "?q=2&n=1&%C3%A9%26=true")
    #expect(
      try Self.request(#"{"source":"a","target":"b","proxy":"","query_params":{}}"#).creation == "")
    #expect(throws: ServiceError.self) {
      try Self.request(
        #"{"source":"a","target":"b","create_target_params":{"q":"\#(String(repeating: "1", count: 1_000))"}}"#
      )
    }
  }

  @Test(arguments: [
    #"{}"#, #"{"source":"a"}"#, #"{"source":1,"target":"b"}"#, #"{"source":"A","target":"b"}"#,
    #"{"source":"ftp://h/a","target":"b"}"#, #"{"source":"http://","target":"b"}"#,
    #"{"source":"http://h/a?x=1","target":"b"}"#, #"{"source":"http://u@h/a","target":"b"}"#,
    #"{"source":"http://h:99999/a","target":"b"}"#, #"{"source":"http+unix://x/a","target":"b"}"#,
    #"{"source":{"url":"a"},"target":"b"}"#, #"{"source":"http://h/a\r\nX: y","target":"b"}"#,
    #"{"source":{"url":"http://h/a","headers":{"a b":"c"}},"target":"b"}"#,
    #"{"source":{"url":"http://h/a","headers":{"a":"c\r\nd: e"}},"target":"b"}"#,
    #"{"source":"a","target":"b","continuous":1}"#, #"{"source":"a","target":"b","doc_ids":1}"#,
    #"{"source":"a","target":"b","doc_ids":[],"selector":{}}"#,
    #"{"source":"a","target":"b","since_seq":{}}"#,
  ])
  func malformedBodyIsRefused(text: String) throws {
    let error = #expect(throws: ServiceError.self) { try Self.request(text) }
    #expect(error?.code == .badRequest)
  }

  @Test(arguments: [#""filter":"d/f""#, #""filter":"_view""#, #""proxy":"http://p""#])
  func whatIsNotOfferedSaysSo(option: String) throws {
    let error = #expect(throws: ServiceError.self) {
      try Self.request(#"{"source":"a","target":"b",\#(option)}"#)
    }
    #expect(error?.code == .notImplemented)
  }

  @Test func intervalOfCheckpointsHasBounds() throws {
    for (text, wanted) in [("1", 100), ("5000", 5_000), ("99999999", 3_600_000)] {
      let request = try Self.request(
        #"{"source":"a","target":"b","checkpoint_interval":\#(text)}"#)
      #expect(request.checkpointInterval == .milliseconds(wanted))
    }
  }
}
