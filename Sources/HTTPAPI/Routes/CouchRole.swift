import Accounts
import CouchSync
import Stores

/// What somebody is to a database, which decides what they may do with it.
///
/// Source: CouchDB, "Security: authorization". Roles other than `_admin` don't exist here, so a security
/// document gives rights by names alone.
enum CouchRole: Sendable {
  /// The guest or user whose own store it is.
  case owner
  /// A user whom the security document names among the members.
  case member
  /// A user whom the security document names among the database's administrators.
  case databaseAdministrator
  /// The administrator of the server, in a database that they have made.
  case administrator

  /// What one may need a right for.
  enum Right: Sendable {
    /// Read, and write documents that are no design documents.
    case use
    /// Write design documents.
    case design
    /// Have disk space given back.
    case compact
    /// Forget revisions without a trace.
    case purge
    /// Say who may do what.
    case secure
  }

  /// What a security document makes of a user; nil where it doesn't name them.
  init?(of caller: Principal, in security: SecurityDocument) {
    guard caller.kind == .user, let name = try? UserName(given: caller.username ?? "") else {
      return nil
    }
    if Self.names(security.administrators, contain: name) {
      self = .databaseAdministrator
    } else if Self.names(security.members, contain: name) {
      self = .member
    } else {
      return nil
    }
  }

  /// Whether one who is this may do that.
  func has(_ right: Right) -> Bool {
    switch right {
    case .use: true
    case .design, .compact: self != .member
    case .purge: self == .databaseAdministrator || self == .administrator
    case .secure: self == .administrator
    }
  }

  /// Names are one person's where ``UserName`` says so; what is no user's name names nobody.
  private static func names(_ names: [String], contain name: UserName) -> Bool {
    names.contains { (try? UserName(given: $0)) == name }
  }
}
