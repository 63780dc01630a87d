/// The account of an export. It contains no secret.
package struct ExportedAccount: Sendable {
  package let id: AccountID
  /// `guest` or `user`.
  package let kind: String
  /// The user name; nil for a guest.
  package let username: String?
  /// The display name; nil when there is none.
  package let displayName: String?
  /// When the account was created, RFC 3339; nil when unknown.
  package let created: String?

  package init(
    id: AccountID, kind: String, username: String?, displayName: String? = nil, created: String?
  ) {
    self.id = id
    self.kind = kind
    self.username = username
    self.displayName = displayName
    self.created = created
  }
}

/// Which of the service's own notes in a store are exported with its documents.
package struct PortableNotes: Sendable {
  /// The prefixes of the ids of notes that are exported and imported, without ``LocalID/receiptPrefix``: for
  /// example `facts/`.
  package let kept: [String]
  /// The prefixes of notes that are exported as information about the account. An import ignores them,
  /// because what the service does for an account must not depend on a file.
  package let told: [String]

  /// Creates a value from prefixes, each of which ends with a slash.
  package init(kept: [String], told: [String]) {
    self.kept = kept
    self.told = told
  }
}
