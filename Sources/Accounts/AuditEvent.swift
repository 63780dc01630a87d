import Documents
import IPAddresses
package import Stores

/// What the audit log says of one act. Accounts are known by their ids. It never contains a person's name, a password, a
/// token, or anything of what people store.
package struct AuditEvent: Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A session began, or a password was used at an address where it was not used in the last week.
    case signedIn
    /// A password was compared and was wrong, or an ID token's signature was.
    case signInFailed
    /// A name is locked for an address, after so many wrong passwords.
    case locked
    case signedUp
    case signedOut
    /// All sessions of an account ended.
    case sessionsEnded
    case passwordChanged
    /// A link was made with which another password can be set.
    case resetMade
    case erased
    /// A member of a list has another role, or is a member now.
    case roleChanged
    case memberRemoved
    case userAdded
    case databaseMade, databaseRemoved
    /// Who may use a database was changed.
    case databaseAccessChanged
    /// A new key signs tokens.
    case keysRotated
    case jobStarted, jobCancelled
    case backupRemoved
    /// A server began to keep the log.
    case logBegun
    /// So many entries before this one were not recorded; without a number, those of about this time can't be read.
    case entriesLost
  }

  let kind: Kind
  /// Whom it concerns; nil where nobody has an account of that name.
  var account: AccountID?
  /// Who did it; nil for the account itself.
  var by: Author?
  var list: AccountID?
  /// What the act was about: a role, a database, a backup, a kind of job, how somebody signed in.
  var about: String?
  var count: Int?

  /// An event from its parts.
  package init(
    _ kind: Kind, of account: AccountID? = nil, by author: Author? = nil, list: AccountID? = nil,
    about: String? = nil, count: Int? = nil
  ) {
    self.kind = kind
    self.account = account
    by = author
    self.list = list
    self.about = about
    self.count = count
  }

  /// Whether strangers cause it as often as they like.
  var isStrangers: Bool { kind == .signInFailed || kind == .locked }

  /// One line: an object in JSON, with a line break. All lines begin with their times, which have one length.
  func line(at time: Timestamp, from address: ClientAddress?) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("time", time.rfc3339)
      writer.member("event", kind.rawValue)
      if let account { writer.member("account", account.text) }
      switch by {
      case .guest(let id)?, .user(let id)?: if id != account { writer.member("by", id.text) }
      case .administrator?: writer.member("by", "administrator")
      case .server?, nil: break
      }
      if let list { writer.member("list", list.text) }
      if let about { writer.member("about", about) }
      if let count { writer.member("count", count) }
      if let address { writer.member("address", address.prefix) }
    } + [UInt8(ascii: "\n")]
  }
}
