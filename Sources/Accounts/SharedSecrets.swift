import Documents
package import Stores

/// Secrets that all processes of a service share because they use one database: local documents of the system store,
/// which no request can read.
package struct SharedSecrets: Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    /// The keys that sign tokens, as ``SigningKeyCoding`` writes them.
    case keys = "signing-keys"
    /// The administrator; see ``SharedAdministrator``.
    case administrator
    /// The key that encrypts the credentials of replications. It is here also where nothing is shared.
    case replications

    var id: LocalID { LocalID(receipt: "secret/" + rawValue) }
  }

  let accounts: AccountStore

  package init(stores: DatabaseManager) { accounts = AccountStore(stores: stores, lists: .none) }

  /// The key that encrypts the credentials of replications: 32 random bytes, the same as long as the data exist.
  /// - Throws: `keys` for a damaged one; the store's errors.
  package func replicationKey() async throws -> [UInt8] {
    let fresh = (0..<2).map { _ in Hex.random() }.joined()
    var known = try await read(.replications)
    if known == nil { known = try await change(.replications) { $0 ?? Array(fresh.utf8) } }
    guard let known, let key = Hex.bytes(known), key.count == 32 else {
      throw ServiceError(.keys, "The key of the replications is damaged.")
    }
    return key
  }

  /// A secret; nil when it was never written.
  func read(_ kind: Kind) async throws -> [UInt8]? {
    try await accounts.read(orAbsent: nil) { view in try view.local(kind.id)?.body }
  }

  /// Writes a secret, in one transaction with reading it. Two processes that create it at once get the same one.
  /// - Parameter rule: the new content from the present one. It may run more than once.
  /// - Returns: the new content.
  func change(
    _ kind: Kind, _ rule: @escaping @Sendable ([UInt8]?) throws -> [UInt8]
  ) async throws -> [UInt8] {
    try await accounts.stores.update(.system, as: .server) { changes in
      let known = try changes.local(kind.id)
      let bytes = try rule(known?.body)
      if bytes != known?.body {
        let document = LocalDocument(revision: (known?.revision ?? 0) &+ 1, body: bytes)
        changes.write(LocalEdit(kind.id, document))
      }
      return bytes
    }
  }
}
