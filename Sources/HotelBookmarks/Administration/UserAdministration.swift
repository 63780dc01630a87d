import Accounts
import Glibc
import HTTPAPI
import JSON
import NIOHTTP1
import NIOPosix
import SQLiteEngine
import Stores

/// Manages users from the command line: through the server that uses the data directory, or directly if there is none.
/// Users in a database are always managed directly; its servers notice within a second.
package struct UserAdministration: Sendable {
  private let location: StorageLocation

  /// - Parameter location: where the stores are.
  package init(_ location: StorageLocation) { self.location = location }

  /// Adds a user.
  /// - Returns: the user's id.
  /// - Throws: `DataDirectoryError` if there is no data directory; `ServiceError` for an invalid name or password, or
  ///   ``BackupError`` with the server's reason if a server refuses it.
  package func add(_ name: String, password: String) async throws -> String {
    let user: KeyValuePairs = ["username": name, "password": password as String?]
    if let answer = try await askServer(.POST, "", user) { return answer["id"]?.string ?? "" }
    return try await run { accounts in
      try await accounts.addUser(username: name, password: Secret(password)).text
    }
  }

  /// Changes the password of a user; the user's sessions end.
  /// - Throws: the errors of ``add(_:password:)``; `ServiceError` for an unknown user.
  package func changePassword(of name: String, to password: String) async throws {
    let path = "/\(name.urlSegment)/password"
    guard try await askServer(.PUT, path, ["password": password]) == nil else { return }
    try await run { try await $0.changePassword(username: name, password: Secret(password)) }
  }

  /// Makes a token with which a user can choose another password, once.
  /// - Throws: as ``changePassword(of:to:)`` does.
  package func resetPassword(of name: String) async throws -> String {
    let path = "/\(name.urlSegment)/password-resets"
    if let answer = try await askServer(.POST, path) { return answer["token"]?.string ?? "" }
    return try await run { try await $0.passwordReset(for: name).token.exposed }
  }

  /// All users, one line each, in the order of their names.
  /// - Throws: as ``add(_:password:)`` does.
  package func list() async throws -> [String] {
    var users: [(name: String?, id: String?, createdAt: String)] = []
    if var page = try await askServer(.GET, "") {
      while true {
        if let rows = page["users"]?.elements {
          users += rows.map {
            ($0["username"]?.string, $0["id"]?.string, $0["createdAt"]?.string ?? "")
          }
        }
        guard let next = page["next"]?.string,
          let following = try await askServer(.GET, "?after=\(next.urlSegment)")
        else { break }
        page = following
      }
    } else {
      users = try await run { try await $0.users() }.map { ($0.name, $0.id?.text, $0.createdAt) }
    }
    return users.sorted { ($0.name ?? "", $0.createdAt) < ($1.name ?? "", $1.createdAt) }.map {
      [$0.id ?? "damaged", $0.createdAt, $0.name ?? "-"].joined(separator: " ")
    }
  }

  /// Erases a user, given by name or id.
  /// - Throws: as ``changePassword(of:to:)`` does.
  package func delete(_ user: String) async throws {
    guard try await askServer(.DELETE, "/" + user.urlSegment) == nil else { return }
    try await run { try await $0.eraseUser(user) }
  }

  /// - Returns: nil if no server uses the data directory.
  private func askServer(
    _ method: HTTPMethod, _ path: String, _ body: KeyValuePairs<String, String?> = [:]
  ) async throws -> ControlClient.Answer? {
    guard location.database == nil else { return nil }
    return try await ControlClient.call(method, "/v1/admin/users" + path, body, in: location.data)
  }

  /// Runs work on the accounts of a directory that no server uses, or of a database.
  func run<Value>(_ work: (AccountService) async throws -> Value) async throws -> Value {
    let threads = NIOThreadPool(numberOfThreads: 1)
    threads.start()
    let result: Result<Value, any Error>
    do {
      result = .success(
        try await StorageAssembly.with(location) { storage, stores in
          let accounts = AccountService(
            stores: stores, keys: try await storage.keys(in: location.data, stores),
            settings: AccountSettings(), now: storage.now,
            hashing: { work in try await threads.runIfActive { work() } },
            adoptGuest: { _, _, _ in true })
          return try await work(accounts)
        })
    } catch { result = .failure(error) }
    try? await threads.shutdownGracefully()
    return try result.get()
  }
}

/// Changes the administrator's password from the command line, while no server uses the data directory. Servers of a
/// database use the new password after their next start.
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
    return password.exposed
  }
}

/// Passwords that an operator supplies in a file. They are never arguments or in the environment, because other
/// processes can read those.
package enum PasswordFile {
  private static let maximumBytes = 64 * 1_024

  /// The password in a file, without its last line break. Links are followed and the mode is not checked, because
  /// container platforms supply secrets as links that a group may read.
  /// - Throws: ``SettingsError`` that names the setting and says why the file can't be used.
  static func password(in path: String, of setting: SettingKey) throws(SettingsError) -> Secret {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw SettingsError(description: "\(setting.rawValue): \(path) can't be opened")
    }
    defer { Glibc.close(file) }
    guard let bytes = content(of: file), !bytes.isEmpty else {
      throw SettingsError(description: "\(setting.rawValue): \(path) can't be read or is empty")
    }
    guard bytes.count <= maximumBytes, let text = String(validating: bytes, as: UTF8.self) else {
      throw SettingsError(description: "\(setting.rawValue): \(path) is too long or no UTF-8")
    }
    return Secret(trimmed(text))
  }

  /// The content of a file, but at most one byte more than allowed; nil if reading fails.
  private static func content(of file: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while bytes.count <= maximumBytes {
      let count = Glibc.read(file, &piece, min(piece.count, maximumBytes + 1 - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      guard count > 0 else { break }
      bytes += piece.prefix(count)
    }
    return bytes
  }

  /// The text without a line break at its end.
  package static func trimmed(_ text: String) -> String {
    // By bytes: "\r\n" is one Character, which hasSuffix("\n") does not see.
    var bytes = Array(text.utf8)
    if bytes.last == 0x0A { bytes.removeLast() }
    if bytes.last == 0x0D { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Manages the keys that sign tokens.
package enum KeyAdministration {
  /// Makes a new signing key. Tokens of earlier keys are valid until they expire.
  /// - Throws: `DataDirectoryError` if there is no data directory, or its stores were moved; `ServiceError` if the key
  ///   file can't be read or written.
  package static func rotate(_ location: StorageLocation) async throws {
    guard location.database != nil else {
      // Also while a server runs, which has the directory's lock.
      try FileEngine.requireDirectory(location.data)
      try FileEngine.requireNoMoveMark(location.data)
      let now = SystemClock.now()
      let keys = try SigningKeys.open(DataFiles.keys(in: location.data), now: now)
      return try await keys.rotate(now: now)
    }
    try await StorageAssembly.with(location) { storage, stores in
      try await storage.keys(in: location.data, stores).rotate(now: storage.now())
    }
  }
}
