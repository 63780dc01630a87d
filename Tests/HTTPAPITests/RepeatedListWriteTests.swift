import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// Writes that change several stores, sent again with the same key.
@Suite(.timeLimit(.minutes(60))) struct RepeatedListWriteTests {
  /// A write below a list; `before` is the write that it needs.
  private struct Write: Sendable {
    var before: (HTTPRequest.Method, String, String?)?
    let method: HTTPRequest.Method
    let path: String
    var body: String?
    let status: Int
  }

  private static let writes = [
    Write(method: .put, path: "/notes/Plan", body: #"{"markdown":"one"}"#, status: 201),
    Write(method: .put, path: "/notes/Way?draft=true", body: #"{"markdown":"two"}"#, status: 201),
    Write(
      before: (.put, "/notes/Gone", #"{"markdown":"three"}"#), method: .delete,
      path: "/notes/Gone?draft=true", status: 204),
    Write(method: .put, path: "/bookmarks/h1?draft=true", body: #"{"name":"One"}"#, status: 201),
    Write(
      before: (.put, "/bookmarks/h2?draft=true", #"{"name":"Two"}"#), method: .post,
      path: "/bookmarks/h2/publish", status: 200),
    Write(
      before: (.put, "/notes/New?draft=true", #"{"markdown":"four"}"#), method: .post,
      path: "/notes/New/publish", status: 200),
    Write(method: .patch, path: "", body: #"{"title":"Athens"}"#, status: 200),
  ]

  @Test func writeOfAListGetsItsFirstAnswerAgain() async throws {
    try await ListFixture.open { list in
      for (number, write) in Self.writes.enumerated() {
        if let (method, path, body) = write.before {
          #expect(try await list.call(.editor, method, path, body: body).status == 201)
        }
        let key: HTTPFields = [.idempotencyKey: "key \(number)"]
        let replies = [
          try await list.call(.editor, write.method, write.path, body: write.body, headers: key),
          try await list.call(.editor, write.method, write.path, body: write.body, headers: key),
        ]
        #expect(replies[0].status == write.status, "\(write.path)")
        #expect(replies[1].status == replies[0].status, "\(write.path)")
        #expect(replies[1].bytes == replies[0].bytes, "\(write.path)")
        #expect(replies[1].headers[.eTag] == replies[0].headers[.eTag], "\(write.path)")
        #expect(replies[1].headers[.location] == replies[0].headers[.location], "\(write.path)")
      }
      // What was published once is there once.
      #expect(try await list.call(.reader, .get, "/bookmarks").ids == ["h2"])
    }
  }

  /// Only a path with a plain id bound the answer to the list: such a write was carried out twice.
  @Test func listNamedByTheQueryOrEncodedIsBoundToTheKey() async throws {
    try await ListFixture.open { list in
      let refused = #"{"new_edits":false,"docs":[{"_id":"x","_rev":"1-a","x":1}]}"#
      #expect(try await list.couch(.reader, .post, "/_bulk_docs", body: refused).status == 201)
      let encoded = "%\(String(list.id.utf8.first ?? 0, radix: 16))" + list.id.dropFirst()
      let writes: [(HTTPRequest.Method, String, ListFixture.Person, String?, Int)] = [
        (.delete, "/v1/sync/items/x?list=" + list.id, .reader, nil, 204),
        (.put, "/v1/lists/\(encoded)/notes/Way", .editor, #"{"markdown":"one"}"#, 201),
      ]
      for (method, path, person, body, status) in writes {
        for _ in 0..<2 {
          let reply = try await list.api.call(
            method, path, token: list.token(person), body: body,
            headers: [.idempotencyKey: path])
          #expect(reply.status == status, "\(path) \(reply.text)")
        }
      }
    }
  }

  @Test func acceptedInvitationGetsTheListAgain() async throws {
    try await ListFixture.open { list in
      let path = "/v1/invitations/" + (try await list.invite("reader")) + "/accept"
      let key: HTTPFields = [.idempotencyKey: "accepted"]
      let token = try list.token(.stranger)
      let first = try await list.api.call(.post, path, token: token, headers: key)
      let again = try await list.api.call(.post, path, token: token, headers: key)
      #expect(first.status == 200 && again.status == 200)
      for member in ["id", "title", "role", "owner", "members", "couch"] {
        #expect(again.json[member] == first.json[member], "\(member)")
      }
      #expect(again["role"] == "reader" && again.json["members"]?.array?.count == 4)
    }
  }

  @Test func listThatIsHandedOnWithAKeyHasOneOwnerInBothAnswers() async throws {
    try await ListFixture.open { list in
      #expect(try await list.call(.owner, .patch, body: #"{"owner":"editor"}"#).status == 202)
      let token = try list.token(.editor)
      let open = try await list.api.call(.get, "/v1/invitations", token: token)
      let offer = try #require(open.json["invitations"]?.array?.first?["id"]?.string)
      let key: HTTPFields = [.idempotencyKey: "taken"]
      let path = "/v1/invitations/\(offer)/accept"
      let first = try await list.api.call(.post, path, token: token, headers: key)
      let again = try await list.api.call(.post, path, token: token, headers: key)
      #expect(first.status == 200 && first["owner"] == "editor" && first["role"] == "owner")
      #expect(again.status == 200 && again.json["members"] == first.json["members"])
      #expect(again["owner"] == "editor" && again["role"] == "owner")
    }
  }
}
