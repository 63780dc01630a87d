package import Documents

/// The name of a database that the administrator creates.
///
/// Source: CouchDB, "PUT /{db}": a lower-case letter, then lower-case letters, digits and `_$()+-/`; at most
/// 238 bytes; ``replicator`` and ``remotes`` besides. Names of stores of guests, users and lists (``isPersonal(_:)``) are not allowed.
package struct DatabaseName: ByteString {
  /// The longest name, in bytes, as in CouchDB 3.
  package static let maximumBytes = 238

  /// The database whose documents are replications, as in CouchDB. Only the administrator can use it.
  package static let replicator = DatabaseName(checked: "_replicator")

  /// The database of the remotes that people set for their own stores. No request can use it.
  package static let remotes = DatabaseName(checked: "_remotes")

  package let text: String

  private init(checked text: String) { self.text = text }

  /// Creates a name; nil for a text that breaks the rule.
  package init?(_ text: String) {
    for own in [Self.replicator, .remotes] where text.equalsBytes(of: own.text) {
      self = own
      return
    }
    guard (1...Self.maximumBytes).contains(text.utf8.count),
      let first = text.utf8.first, (0x61...0x7A).contains(first),
      text.utf8.allSatisfy(Self.isLegal), !Self.isPersonal(text)
    else { return nil }
    self.text = text
  }

  /// Whether a text is the name by which clients call the store of a guest, a user or a list: `guest-`,
  /// `user-` or `list-` and 32 lower-case hex digits, an account's id.
  package static func isPersonal(_ text: String) -> Bool {
    for kind in ["guest-", "user-", "list-"] where text.utf8.starts(with: kind.utf8) {
      return AccountID(String(Substring(text.utf8.dropFirst(kind.utf8.count)))) != nil
    }
    return false
  }

  private static func isLegal(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "_$()+-/".utf8.contains(byte)
  }
}

extension LocalID {
  /// The note that tells other servers how far the replication of a document has come.
  package static func progress(of document: String) -> LocalID {
    LocalID(receipt: "replicator/" + document)
  }
}
