import Accounts
import Documents
import NIOPosix
import SQLiteEngine
import Stores

/// Looks after users from the command line: through the server that uses the data directory, or without one.
package struct UserAdministration: Sendable {
  private let data: String

  /// - Parameter data: the data directory.
  package init(data: String) { self.data = data }

  /// Adds a user.
  /// - Returns: the user's id.
  /// - Throws: `DataDirectoryError` where there is no data directory; `AccountError` for a name or password that can't
  ///   be, ``BackupError`` with its words where a server says so.
  package func add(_ name: String, password: String) async throws -> String {
    try await perform(.add(name: name, password: password))
  }

  /// Gives a user another password; the user's sessions end.
  /// - Throws: as ``add(_:password:)``; `AccountError` for an unknown user.
  package func changePassword(of name: String, to password: String) async throws {
    _ = try await perform(.changePassword(name: name, password: password))
  }

  /// Does what is asked for.
  /// - Parameter print: takes a line for each user of a list.
  /// - Returns: one line.
  /// - Throws: as ``add(_:password:)``.
  package func perform(
    _ request: UserRequest, _ print: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> String {
    let report = BackupAdministration.Report(progress: { _, _ in }, finding: print)
    switch await BackupAdministration.ask(.user(request), in: data, report) {
    case .result(let words, _): return words
    case .failure(let reason): throw BackupError(.failed, reason)
    case .progress, .finding, .text:
      throw BackupError(.failed, "The server ended before it was done")
    case nil: return try await run { try await UserDesk($0).perform(request) { print($0) } }
    }
  }

  /// Runs work on the accounts of a directory that no server uses.
  func run<Value>(_ work: (AccountService) async throws -> Value) async throws -> Value {
    try FileEngine.requireDirectory(data)
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
