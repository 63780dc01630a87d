import Documents
import Foundation
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// The name of a user's store, by number.
func user(_ number: Int) throws -> StoreName {
  let digits = String(number)
  return .user(try #require(AccountID(String(repeating: "0", count: 32 - digits.count) + digits)))
}

/// The path of a store's file.
func path(of name: StoreName, in directory: TemporaryDirectory) throws -> String {
  let hash = try #require(
    directory.files().first { $0.hasSuffix(DataDirectory.fileName(for: name.key)) })
  return directory.path + "/" + hash
}

extension StorageEngine {
  /// Opens a store, and creates it if it is absent.
  func store(_ name: StoreName) async throws -> any StoreStorage {
    try #require(try await open(name, creating: true))
  }

  /// Opens a store and closes it again.
  /// - Returns: the code of the error if the store does not open.
  func refusal(of name: StoreName, creating: Bool = true) async -> ServiceError.Code? {
    do {
      await (try open(name, creating: creating))?.close()
      return nil
    } catch {
      return ServiceError(error)?.code
    }
  }
}

extension StoreStorage {
  /// Writes a revision of a document.
  @discardableResult
  func put(
    _ id: String, _ body: String, base: RevisionID? = nil, at now: Int64 = 1
  ) async throws -> RevisionID {
    let id = try DocumentID(id)
    let body = try DocumentBody(parsing: Array(body.utf8))
    return try await update(loading: [id], at: Timestamp(milliseconds: now)) {
      changes in
      let tree = try changes.tree(id)
      let mutation = try Edit.put(id, in: tree, base: base, body: body)
      changes.write(mutation)
      return mutation.revision
    }
  }

  /// Inserts a peer's revision with its history.
  func graft(_ id: String, _ history: [String], _ body: String) async throws {
    let id = try DocumentID(id)
    let body = try DocumentBody(parsing: Array(body.utf8))
    let revisions = try history.map { try RevisionID($0) }
    try await update(loading: [id], at: Timestamp(milliseconds: 1)) { changes in
      let tree = try changes.tree(id)
      let mutation = try Edit.insert(
        id, in: tree, history: revisions, body: body, isDeleted: false, known: nil)
      changes.write(mutation)
    }
  }

  /// The winner's body.
  func body(_ id: String) async throws -> String? {
    let id = try DocumentID(id)
    return try await read { view in try view.document(id) }
      .map { String(decoding: $0.body, as: UTF8.self) }
  }

  /// The store's counts.
  func info() async throws -> StoreInfo {
    try await read { view in try view.info() }
  }
}
