import PostgresEngine
import SQLiteEngine
import Scheduling
import Stores

/// One end of a move: a data directory or a database.
enum MoveEndpoint: Sendable {
  case directory(String)
  case database(DatabaseAddress)

  /// Reads an endpoint from the command line: a `postgres://` or `postgresql://` URL, or else a path.
  /// - Parameter password: the database's password; nil when the URL has it, or none is needed.
  /// - Throws: ``SettingsError`` for a URL that can't be used.
  init(_ text: String, password: String?) throws(SettingsError) {
    if Self.isURL(text) {
      self = .database(try StorageLocation.address(url: text, password: password))
    } else {
      let path = BackupAdministration.absolute(text)
      self = .directory(path.realPath ?? path)
    }
  }

  /// Whether a text is the URL of a database.
  static func isURL(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }

  /// The endpoint for people. Never a password.
  var description: String {
    switch self {
    case .directory(let path): path
    case .database(let address): address.description
    }
  }

  /// The directory's path; nil for a database.
  var path: String? {
    if case .directory(let path) = self { path } else { nil }
  }

  /// Opens an endpoint and closes it after use.
  /// - Parameter whileUsed: whether servers may use a database meanwhile.
  /// - Throws: ``SettingsError`` for a database that servers use; `DataDirectoryError`; the database's errors; the errors of
  ///   `use`.
  static func with<Value>(
    _ endpoint: MoveEndpoint, whileUsed: Bool = false,
    _ use: (any CopyingEngine) async throws -> Value
  ) async throws -> Value {
    let engine = try await endpoint.open(whileUsed: whileUsed)
    return try await closing(engine.close) { try await use(engine) }
  }

  /// How many connections servers have. PostgreSQL ends those of a server that has just stopped a moment later, so it is asked
  /// again for two seconds.
  private static func nodes(of engine: PostgresDatabase) async throws -> Int64 {
    for _ in 0..<20 {
      if try await engine.nodeConnections() == 0 { return 0 }
      try await Task.sleep(for: .milliseconds(100))
    }
    return try await engine.nodeConnections()
  }

  private func open(whileUsed: Bool) async throws -> any CopyingEngine {
    switch self {
    case .directory(let path): return try await FileEngine.open(directory: path, isForMove: true)
    case .database(let address):
      let engine = try await PostgresDatabase.open(address.ofCommand, pool: .forStores())
      do {
        let nodes = whileUsed ? 0 : try await Self.nodes(of: engine)
        guard nodes == 0 else {
          throw SettingsError(
            "Servers use the database \(description) (\(nodes) connections); stop them first")
        }
      } catch {
        await engine.close()
        throw error
      }
      return engine
    }
  }
}
