import Accounts
import Documents
import NIOPosix
import SQLiteEngine
import Stores

/// Looks after users from the command line, while no server uses the data directory.
package struct UserAdministration: Sendable {
  private let data: String

  /// - Parameter data: the data directory.
  package init(data: String) { self.data = data }

  /// Adds a user.
  /// - Returns: the user's id.
  /// - Throws: `DataDirectoryError` while a server runs; `AccountError` for a name or password that can't be.
  package func add(_ name: String, password: String) async throws -> String {
    try await run { try await $0.addUser(username: name, password: Secret(password)).text }
  }

  /// Gives a user another password; the user's sessions end.
  /// - Throws: as ``add(_:password:)``; `AccountError` for an unknown user.
  package func changePassword(of name: String, to password: String) async throws {
    try await run { try await $0.changePassword(username: name, password: Secret(password)) }
  }

  /// Runs work on the accounts of a directory that no server uses.
  func run<Value>(_ work: (AccountService) async throws -> Value) async throws -> Value {
    let engine = try await FileEngine.open(directory: data)
    var settings = Settings()
    settings.data = data
    let stores = ServiceAssembly.stores(over: engine, settings)
    let threads = NIOThreadPool(numberOfThreads: 1)
    threads.start()
    let result: Result<Value, any Error>
    do {
      let accounts = AccountService(
        stores: stores,
        keys: try await SigningKeys.open(DataFiles.keys(in: data), now: SystemClock.now()),
        settings: AccountSettings(), now: SystemClock.now,
        hashing: { work in try await threads.runIfActive { work() } }, adoptGuest: { _, _ in true })
      result = .success(try await work(accounts))
    } catch {
      result = .failure(error)
    }
    await stores.close()
    await engine.close()
    try? await threads.shutdownGracefully()
    return try result.get()
  }
}
