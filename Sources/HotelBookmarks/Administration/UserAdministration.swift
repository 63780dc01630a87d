import Accounts
import Documents
import HTTPAPI
import Lists
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
    let path = "\(try segment(of: name))/password"
    guard try await askServer(.PUT, path, ["password": password]) == nil else { return }
    try await run { try await $0.changePassword(username: name, password: Secret(password)) }
  }

  /// Makes a link with which a user can choose another password, once.
  /// - Parameter url: the URL before the path; nil for that of a running server's settings, if there is one.
  /// - Throws: as ``changePassword(of:to:)`` does.
  package func resetLink(for name: String, at url: String?) async throws -> String {
    let path = "\(try segment(of: name))/password-resets"
    let link =
      if let answer = try await askServer(.POST, path) { answer["url"]?.string ?? "" } else {
        try await run { "/reset#" + (try await $0.passwordReset(for: name).token.exposed) }
      }
    guard let url, let path = link.firstIndex(of: "#") else { return link }
    return url + "/reset" + link[path...]
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
      let all = try await run { accounts -> [ListedUser] in
        var (users, after): ([ListedUser], String?) = ([], nil)
        repeat {
          let page = try await accounts.users(after: after, limit: 1_000)
          users += page?.users ?? []
          after = page?.next
        } while after != nil
        return users
      }
      users = all.map { ($0.name, $0.id?.text, $0.createdAt) }
    }
    return users.sorted { ($0.name ?? "", $0.createdAt) < ($1.name ?? "", $1.createdAt) }.map {
      [$0.id ?? "damaged", $0.createdAt, $0.name ?? "-"].joined(separator: " ")
    }
  }

  /// Erases a user, given by name or id.
  /// - Throws: as ``changePassword(of:to:)`` does.
  package func delete(_ user: String) async throws {
    guard try await askServer(.DELETE, segment(of: user)) == nil else { return }
    try await run { try await $0.eraseUser(user) }
  }

  /// A name or id as a segment of a path. What no segment can be is no user's name.
  private func segment(of user: String) throws -> String {
    guard !["", ".", ".."].contains(user) else {
      throw ServiceError(.unknownUser, "There is no user of this name.")
    }
    return "/" + user.urlSegment
  }

  /// - Returns: nil if no server uses the data directory.
  private func askServer(
    _ method: HTTPMethod, _ path: String, _ body: KeyValuePairs<String, String?> = [:]
  ) async throws -> ControlClient.Answer? {
    guard location.database == nil else { return nil }
    return try await ControlClient.call(method, "/v1/admin/users" + path, body, in: location.data)
  }

  /// Adds an entry about what was done to the audit log, if there is one. A failure is shown and does not end the command:
  /// the person has to learn the result, which may be a new password.
  func record(_ event: AuditEvent) async {
    do { try await run { $0.audit.note(event) } } catch let error as DataDirectoryError
      where error.code == .inUse
    {
      // The server that uses the directory finds a new key in the file, and records it.
    } catch { Self.warnOfAudit(error) }
  }

  private static func warnOfAudit(_ error: any Error) {
    let line = "hotel-bookmarks: done, but the audit log can't be written: "
    StandardError.write(Array((line + StartFailure.line(error) + "\n").utf8))
  }

  /// Runs work on the accounts of a directory that no server uses, or of a database.
  func run<Value>(_ work: (AccountService) async throws -> Value) async throws -> Value {
    let threads = NIOThreadPool(numberOfThreads: 1)
    threads.start()
    return try await closing({ try? await threads.shutdownGracefully() }) {
      try await StorageAssembly.with(location) { storage, stores in
        var settings = AccountSettings()
        // What a command does is recorded where servers record what they do.
        settings.audit = .on
        let accounts = AccountService(
          stores: stores, keys: try await storage.keys(in: location.data, stores),
          settings: settings, now: storage.now,
          hashing: { work in try await threads.runIfActive { work() } },
          adoptGuest: { _, _, _ in true }, lists: .ofLists(now: storage.now))
        let value = try await work(accounts)
        do { if try await accounts.hasAudit() { try await accounts.writeAudit() } } catch {
          Self.warnOfAudit(error)
        }
        return value
      }
    }
  }
}
