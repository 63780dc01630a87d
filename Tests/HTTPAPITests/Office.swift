import Accounts
import Foundation
import HTTPTypes
import Testing

@testable import HTTPAPI

/// A desk with an administrator, a database that they made, and people who may do more or less with it.
struct Office: Sendable {
  /// Who somebody is to the database.
  enum Person: String, Sendable, CaseIterable {
    case guest, stranger, member, databaseAdministrator, administrator
  }

  /// The desk.
  let desk: Desk
  private let tokens: [Person: String]

  /// The database, as a path: a name with everything that a name may have.
  static let path = "/couch/plans_$()+-%2F1"
  /// A database that is not there, whose name is as long.
  static let absent = "/couch/plans_$()+-%2F2"
  /// Who may use the database, as it is at first.
  static let security = """
    {"admins":{"names":["Chief"],"roles":[]},"members":{"names":["nobody","MEMBER"],"roles":[]}}
    """
  /// The administrator's name and password.
  static let basic: HTTPFields = [
    .authorization: "Basic " + Data("admin:\(Desk.password)".utf8).base64EncodedString()
  ]

  /// Opens an office for a test.
  static func open(_ test: @Sendable (Office) async throws -> Void) async throws {
    let administrator = try Administrator(
      name: "admin", password: Secret(Desk.password),
      scrypt: try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1)))
    try await Desk.open {
      $0.administrator = administrator
    } _: { desk in
      var tokens: [Person: String] = [
        .guest: try await desk.guest(), .stranger: try await desk.user("stranger"),
        .member: try await desk.user("member"),
        .databaseAdministrator: try await desk.user("chief"),
      ]
      let session = try await desk.call(.post, "/v1/sessions", body: Desk.credentials("ADMIN"))
      tokens[.administrator] = session["token"]
      let office = Office(desk: desk, tokens: tokens)
      #expect(try await office.call(.administrator, .put, path).status == 201)
      #expect(try await office.secure(security).status == 200)
      try await test(office)
    }
  }

  /// Somebody's token.
  func token(_ person: Person) throws -> String { try #require(tokens[person]) }

  /// One exchange by somebody's token.
  @discardableResult
  func call(
    _ person: Person, _ method: HTTPRequest.Method, _ target: String, body: String? = nil,
    headers: HTTPFields = [:], at location: SourceLocation = #_sourceLocation
  ) async throws -> Reply {
    try await desk.call(
      method, target, token: try token(person), body: body, headers: headers, at: location)
  }

  /// Says who may use the database.
  @discardableResult
  func secure(_ security: String) async throws -> Reply {
    try await call(.administrator, .put, Self.path + "/_security", body: security)
  }
}
