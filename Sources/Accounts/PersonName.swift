import Documents
package import Stores
import Text

/// How other people see a user: by the user name, and by the display name that a user of another issuer has chosen.
///
/// Display names need not be unique. Where one is shown, the first digits of the user name are shown beside it, which no
/// user can choose.
package struct PersonName: Sendable, Equatable {
  package static let maximumDisplayBytes = 64

  /// The user name, spelt as at the sign-up.
  package let username: String
  /// The display name; nil when the user has none.
  package let displayName: String?

  package init(_ username: String, displayName: String? = nil) {
    (self.username, self.displayName) = (username, displayName)
  }

  /// The present name of an account. One indexed read for a generated user name, none for any other.
  package init(_ username: String, of account: AccountID, in view: any StoreView) throws {
    let note =
      Self.isGenerated(username) ? try view.local(AccountKeys.displayName(of: account)) : nil
    self.init(
      username, displayName: try note.flatMap { try AccountStore.root(of: $0.body)["name"]?.string }
    )
  }

  fileprivate static func isGenerated(_ username: String) -> Bool {
    username.utf8.starts(with: UserName.issuedPrefix.utf8)
  }

  /// Checks a display name: in normal form C and without white space at its ends it has 1 to ``maximumDisplayBytes``
  /// bytes, and no control characters, line separators and bidirectional controls.
  /// - Throws: `invalidName`.
  static func displayName(_ raw: String) throws -> String {
    var scalars = raw.normalized(.canonical).unicodeScalars[...]
    while scalars.first?.properties.isWhitespace ?? false { scalars.removeFirst() }
    while scalars.last?.properties.isWhitespace ?? false { scalars.removeLast() }
    let text = String(Substring(scalars))
    guard (1...maximumDisplayBytes).contains(text.utf8.count) else {
      throw ServiceError(.invalidName, "A display name has 1 to \(maximumDisplayBytes) bytes.")
    }
    guard !scalars.contains(where: UserName.isControl) else {
      throw ServiceError(.invalidName, "A display name must not contain control characters.")
    }
    return text
  }
}

extension AccountService {
  /// The present name of a user; nil for everybody else.
  /// - Throws: the system store's errors.
  package func name(of person: Principal) async throws -> PersonName? {
    guard person.kind == .user, let username = person.username else { return nil }
    guard PersonName.isGenerated(username) else { return PersonName(username) }
    return try await accounts.read(orAbsent: PersonName(username)) { view in
      try PersonName(username, of: person.id, in: view)
    }
  }

  /// Sets the display name of a user of another issuer.
  /// - Parameter text: nil removes the name.
  /// - Throws: `conflict` for everybody else; `invalidName`; `invalidToken` for an account that was just erased.
  package func setDisplayName(
    _ text: String?, of person: Principal, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    guard let username = person.username, PersonName.isGenerated(username) else {
      throw ServiceError(
        .conflict, "Only users of another issuer have a display name; others see your user name.")
    }
    let name = try text.map(PersonName.displayName)
    try await accounts.stores.update(.system, as: context, answer: answer) { changes in
      guard try changes.hasUser(person.id, named: username) else {
        throw ServiceError.invalidToken("ended")
      }
      let note = name.map {
        LocalDocument(revision: 1, body: JSONValue.object(["name": .string($0)]).bytes)
      }
      changes.write(LocalEdit(AccountKeys.displayName(of: person.id), note))
    }
  }
}
