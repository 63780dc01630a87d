import Accounts
import SQLiteEngine
import Stores

/// Changes the administrator's password from the command line, while no server uses the data directory. Servers of a
/// database use the new password within a second.
package enum PasswordReset {
  /// Makes a random password, of which only the hash is stored.
  /// - Returns: the password, to be shown once.
  /// - Throws: `DataDirectoryError` while a server runs or if there is no data directory; `ServiceError` if the file
  ///   can't be written.
  package static func run(_ location: StorageLocation) async throws -> String {
    let password = try await StorageAssembly.with(location) { storage, stores in
      storage.engine.isShared
        ? try await SharedAdministrator(SharedSecrets(stores: stores)).reset()
        : try AdministratorFile(DataFiles.administrator(in: location.data)).reset()
    }
    await UserAdministration(location).record(
      AuditEvent(.passwordChanged, by: .administrator, about: "administrator"))
    return password.exposed
  }
}

/// Manages the keys that sign tokens.
package enum KeyAdministration {
  /// Makes a new signing key. Tokens of earlier keys are valid until they expire, or end at once.
  /// - Throws: `DataDirectoryError` if there is no data directory, or its stores were moved; `ServiceError` if the key
  ///   file can't be read or written.
  package static func rotate(_ location: StorageLocation, endingAll: Bool = false) async throws {
    if location.database == nil {
      // Also while a server runs, which has the directory's lock.
      try FileEngine.requireDirectory(location.data)
      try FileEngine.requireNoMoveMark(location.data)
      let now = SystemClock.now()
      let keys = try SigningKeys.open(DataFiles.keys(in: location.data), now: now)
      try await keys.rotate(now: now, endingAll: endingAll)
    } else {
      try await StorageAssembly.with(location) { storage, stores in
        let keys = try await storage.keys(in: location.data, stores)
        try await keys.rotate(now: storage.now(), endingAll: endingAll)
      }
    }
    await UserAdministration(location).record(AuditEvent(.keysRotated, by: .administrator))
  }
}
