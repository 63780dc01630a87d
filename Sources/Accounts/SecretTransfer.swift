import Documents
package import Stores

/// Hands the signing keys and the administrator's password from the files of a data directory to the system store that
/// several processes share, and back.
package struct SecretTransfer: Sendable {
  private let secrets: SharedSecrets
  private let keys: SecretFile
  private let administrator: SecretFile

  /// A transfer between two files and the system store of a manager.
  package init(keys: String, administrator: String, stores: DatabaseManager) {
    secrets = SharedSecrets(stores: stores)
    self.keys = SecretFile(path: keys)
    self.administrator = SecretFile(path: administrator, title: "administrator's file")
  }

  /// Which of the two files are there and damaged.
  package static func damagedFiles(keys: String, administrator: String) -> [String] {
    var damaged: [String] = []
    if let bytes = try? SecretFile(path: keys).read(),
      (try? SigningKeyCoding.keys(in: bytes)) == nil
    {
      damaged.append(keys)
    }
    if AdministratorFile(administrator).isDamaged { damaged.append(administrator) }
    return damaged
  }

  /// Writes what the files contain to the system store. A file that is missing is left out, and a password that was never
  /// shown: the first server then makes another.
  /// - Throws: `keys` for a damaged file; the store's errors.
  package func writeToStore() async throws {
    if let bytes = try keys.read() {
      _ = try SigningKeyCoding.keys(in: bytes)
      _ = try await secrets.change(.keys) { _ in bytes }
    }
    if let bytes = try administrator.read(),
      let password = try AdministratorFile.shownPassword(in: bytes)
    {
      try await SharedAdministrator(secrets).write(password)
    }
  }

  /// Writes what the system store contains to the files, and removes it from the system store. Files that exist are
  /// replaced.
  /// - Throws: `keys` for a damaged document, and for a file that can't be written; the store's errors.
  package func writeToFiles() async throws {
    if let bytes = try await secrets.read(.keys) {
      _ = try SigningKeyCoding.keys(in: bytes)
      try keys.replace(bytes)
    }
    if let password = try await SharedAdministrator(secrets).storedContent() {
      try administrator.replace(AdministratorFile.content(password, isShown: true))
    }
    try await secrets.removeAll()
  }
}

extension SharedAdministrator {
  /// Stores the password of an administrator's file.
  fileprivate func write(_ password: JSONValue) async throws {
    _ = try await change { $0.password = password }
  }

  /// The stored password as in an administrator's file; nil when none is stored.
  /// - Throws: `keys` for a damaged document; the store's errors.
  fileprivate func storedContent() async throws -> JSONValue? {
    try await secrets.read(.administrator).flatMap { try Self.content(of: $0).password }
  }
}

extension SharedSecrets {
  fileprivate func removeAll() async throws {
    try await accounts.stores.update(.system, as: .server) { changes in
      for kind in [Kind.keys, .administrator] where try changes.local(kind.id) != nil {
        changes.write(LocalEdit(kind.id, nil))
      }
    }
  }
}
