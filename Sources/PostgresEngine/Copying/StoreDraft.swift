import Documents
import NIOConcurrencyHelpers
import Stores

/// A copy of another engine's store. Until it is published, its name is that of a staged store, which no client can ask
/// for.
///
/// Each page is one transaction, and writing it again changes nothing. So a page whose answer was lost is repeated.
final class StoreDraft: RowWriter {
  private let database: PostgresDatabase
  private let name: StoreName
  private let number: Int64
  private let epoch: String
  /// When the newest document of the copy was changed, in milliseconds.
  private let changed = NIOLockedValueBox<Int64>(0)

  /// A copy with a row, and no other rows yet.
  init(_ database: PostgresDatabase, of name: StoreName, number: Int64, epoch: String) {
    self.database = database
    self.name = name
    self.number = number
    self.epoch = epoch
  }

  func write(_ page: RowPage) async throws {
    if case .documents(let documents) = page {
      let latest = documents.map(\.row.updated).max() ?? 0
      changed.withLockedValue { $0 = max($0, latest) }
    }
    try await transact { row in
      let calls = page.calls(in: row.number)
      row.written += calls.reduce(0) { $0 + $1.writtenBytes }
      return calls
    }
  }

  func complete(_ header: StoreHeader) async throws -> any RowReader {
    let changed = changed.withLockedValue { $0 }
    try await transact { row in
      let key = row.header.key
      row.header = header
      row.header.key = key
      row.changed = changed
      return []
    }
    return StoreReader(source: .pool(database), number: number, epoch: epoch)
  }

  func publish() async throws {
    try await database.replace(name, by: .staged(name), onlyIfEmpty: false)
  }

  func abandon() async { _ = try? await database.erase(.staged(name)) }

  /// Writes to the store in one transaction.
  /// - Parameter change: changes the store's row and returns what else to write. It may run more than once.
  private func transact(_ change: @escaping @Sendable (inout StoreRow) -> [Call]) async throws {
    try await database.repeating { connection in
      _ = try PostgresDatabase.inTransaction(of: self.number, on: connection) { found in
        var row = try StoreRow.requireThere(found, epoch: self.epoch)
        let calls = change(&row)
        connection.notices.clear()
        return calls + [row.updating]
      }
      if let warning = connection.notices.unreplicated {
        throw ServiceError.outcomeUnknown(warning)
      }
    }
  }
}

extension RowPage {
  /// The statements that write the page. Long histories are divided into pieces.
  fileprivate func calls(in store: Int64) -> [Call] {
    switch self {
    case .documents(let documents):
      documents.flatMap { document -> [Call] in
        var newest = document.tree
        let pieces = newest.takePieces()
        let (row, tree) = document.encoded(with: newest)
        return pieces.map { .putting(StoredPiece($0, of: row.id), of: row.first, in: store) }
          + [.putting(row, body: document.body, tree: tree, in: store)]
      }
    case .bodies(let bodies): bodies.map { .putting($0.body, of: $0.first, $0.revision, in: store) }
    case .locals(let locals):
      locals.map { local in
        .putting(StoredLocal(local.document, expires: local.expires), local.id, in: store)
      }
    }
  }
}
