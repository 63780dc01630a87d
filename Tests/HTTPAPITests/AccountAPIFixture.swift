import Accounts
import Foundation
import HTTPTypes
import Testing

@testable import HTTPAPI

/// A service with an administrator, a database that the administrator made, and people with different rights to it.
struct AccountAPIFixture: Sendable {
  /// A person's role in the database.
  enum Person: String, Sendable, CaseIterable {
    case guest, stranger, member, databaseAdministrator, administrator
  }

  /// The service.
  let api: APIFixture
  private let tokens: [Person: String]

  /// The database's path: its name has every kind of allowed character.
  static let path = "/couch/plans_$()+-%2F1"
  /// The path of an absent database whose name has the same length.
  static let absent = "/couch/plans_$()+-%2F2"
  /// The database's initial `_security`.
  static let security = """
    {"admins":{"names":["Chief"],"roles":[]},"members":{"names":["nobody","MEMBER"],"roles":[]}}
    """
  /// The administrator's name and password.
  static let basic: HTTPFields = [
    .authorization: "Basic " + Data("admin:\(APIFixture.password)".utf8).base64EncodedString()
  ]

  /// Opens a service for a test.
  static func open(
    audit: AuditLog.Mode = .off, _ test: @Sendable (AccountAPIFixture) async throws -> Void
  ) async throws {
    let administrator = try Administrator(
      name: "admin", password: Secret(APIFixture.password),
      scrypt: try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1)))
    try await APIFixture.open {
      $0.administrator = administrator
      $0.audit = audit
    } _: { api in
      var tokens: [Person: String] = [
        .guest: try await api.guest(), .stranger: try await api.user("stranger"),
        .member: try await api.user("member"),
        .databaseAdministrator: try await api.user("chief"),
      ]
      let session = try await api.call(.post, "/v1/sessions", body: APIFixture.credentials("ADMIN"))
      tokens[.administrator] = session["token"]
      let api = AccountAPIFixture(api: api, tokens: tokens)
      #expect(try await api.call(.administrator, .put, path).status == 201)
      #expect(try await api.secure(security).status == 200)
      try await test(api)
    }
  }

  /// A person's token.
  func token(_ person: Person) throws -> String { try #require(tokens[person]) }

  /// Sends one request with a person's token.
  @discardableResult
  func call(
    _ person: Person, _ method: HTTPRequest.Method, _ target: String, body: String? = nil,
    headers: HTTPFields = [:], at location: SourceLocation = #_sourceLocation
  ) async throws -> Reply {
    try await api.call(
      method, target, token: try token(person), body: body, headers: headers, at: location)
  }

  /// Sets who may use the database.
  @discardableResult
  func secure(_ security: String) async throws -> Reply {
    try await call(.administrator, .put, Self.path + "/_security", body: security)
  }
}
