import Documents
import HTTPTypes
import Stores
import TestSupport
import Testing

@testable import HTTPAPI

/// A service with a list and people in different roles.
struct ListFixture: Sendable {
  /// A person's role in the list.
  enum Person: String, Sendable, CaseIterable {
    case owner, editor, reader, invited, removed, stranger, guest
  }

  /// The service.
  let api: APIFixture
  /// The list's id.
  let id: String
  private let tokens: [Person: String]

  /// An id that no list has.
  static let absent = "00000000000000000000000000000000"

  /// The list's path.
  var path: String { "/v1/lists/" + id }
  /// The list's store.
  var store: StoreName? { AccountID(id).map(StoreName.list) }
  /// The list's database.
  var couch: String { "/couch/list-" + id }

  /// Opens a service for a test: a list called Rome with an editor, a reader, a person who was removed, and an open
  /// invitation.
  static func open(_ test: @Sendable (ListFixture) async throws -> Void) async throws {
    try await APIFixture.open { api in
      var tokens: [Person: String] = [.guest: try await api.guest()]
      for person in Person.allCases where person != .guest {
        tokens[person] = try await api.user(person.rawValue)
      }
      let made = try await api.call(
        .post, "/v1/lists", token: tokens[.owner], body: #"{"title":"Rome","markdown":"In *May*"}"#)
      #expect(made.status == 201)
      let fixture = ListFixture(api: api, id: try #require(made["id"]), tokens: tokens)
      for (person, role) in [(Person.editor, "editor"), (.reader, "reader"), (.removed, "editor")] {
        api.clock.advance(seconds: 1)
        try await fixture.join(person, as: role)
      }
      let removed = try await fixture.call(.owner, .delete, "/members/removed")
      #expect(removed.status == 204)
      _ = try await fixture.invite("editor")
      try await test(fixture)
    }
  }

  /// A person's token.
  func token(_ person: Person) throws -> String { try #require(tokens[person]) }

  /// Sends one request below the list.
  @discardableResult
  func call(
    _ person: Person, _ method: HTTPRequest.Method, _ path: String = "", body: String? = nil,
    headers: HTTPFields = [:], at location: SourceLocation = #_sourceLocation
  ) async throws -> Reply {
    try await api.call(
      method, self.path + path, token: token(person), body: body, headers: headers, at: location)
  }

  /// Sends one request to the list's database.
  @discardableResult
  func couch(
    _ person: Person, _ method: HTTPRequest.Method, _ path: String = "", body: String? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws -> Reply {
    try await api.call(
      method, couch + path, token: token(person), body: body, at: location)
  }

  /// Makes an invitation and returns its token.
  func invite(_ role: String) async throws -> String {
    let reply = try await call(.owner, .post, "/invitations", body: #"{"role":"\#(role)"}"#)
    #expect(reply.status == 201)
    return try #require(reply["token"])
  }

  /// Makes a person a member by an invitation.
  func join(_ person: Person, as role: String) async throws {
    let reply = try await accept(person, try await invite(role))
    #expect(reply.status == 200)
  }

  /// Accepts an invitation.
  @discardableResult
  func accept(_ person: Person, _ invitation: String) async throws -> Reply {
    try await api.call(
      .post, "/v1/invitations/\(invitation)/accept", token: token(person))
  }
}
