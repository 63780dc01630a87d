import Documents
import Scheduling
package import Stores

/// Copying stores to another engine, and from it.
extension FileEngine: CopyingEngine {
  package func rowReader(of name: StoreName, whileUsed: Bool) async throws -> (any RowReader)? {
    guard let storage = try await open(name, creating: false) as? SQLiteStorage else { return nil }
    return FileReader(storage: storage, closes: true)
  }

  /// Reads the rows of an open store that its owner closes. If the store is changed meanwhile, ``RowWalk`` may find
  /// that its rows contradict each other; see ``WriteAccess/hasChanged(_:)``.
  /// - Throws: `unavailable` for a storage of another engine.
  package func rowReader(over storage: any StoreStorage) throws -> any RowReader {
    guard let storage = storage as? SQLiteStorage else { throw ServiceError.closed }
    return FileReader(storage: storage, closes: false)
  }

  package func rowWriter(of name: StoreName, epoch: String) async throws -> any RowWriter {
    let draft = StoreDraft(of: name, epoch: epoch, in: self)
    try await draft.begin()
    return draft
  }

  package func removeUnfinishedCopies() async throws {
    let copies = directory.copies
    try await onDisk { try Disk.removeTree(copies) }
  }

  package func registryDamage() async throws -> [String] {
    try await namelessFindings().map { "\($0.file): \($0.reason)" }
  }

  /// Reads the whole log first: 40 bytes a store.
  package func visitErasures(_ take: ([StoreName]) async throws -> Void) async throws {
    let path = directory.erasures
    let names = try await onDisk {
      var names: [StoreName] = []
      _ = try ErasureLog.visit(path) { names.append($0) }
      return names
    }
    for start in stride(from: 0, to: names.count, by: 1_000) {
      try await take(Array(names[start..<min(start + 1_000, names.count)]))
    }
  }

  package func noteErasures(of names: [StoreName]) async throws {
    let path = directory.erasures
    try await onDisk { try ErasureLog.append(names, to: path) }
  }

  /// Gives a complete file, which is closed and on the disk, the name of a store. A store that had the name is erased
  /// first.
  ///
  /// If the process ends between the rename and the registration, opening the store registers it.
  func adopt(_ draft: DatabaseFile, as name: StoreName, epoch: String) async throws {
    _ = try await erase(name)
    let directory = directory
    try await onDisk {
      let file = directory.file(for: name.key)
      try directory.makeDirectory(of: file)
      try draft.move(to: file)
    }
    try await translating { try await registry.set(.init(epoch: epoch), for: name.key) }
  }
}

/// A reader of the rows of a file.
protocol FileRowReader: RowReader {
  /// Reads rows.
  /// - Throws: the engine's errors, translated.
  func reading<Value: Sendable>(
    _ read: @escaping @Sendable (StoreRows) throws -> Value
  ) async throws -> Value
}

extension FileRowReader {
  func documents(after sequence: Int64) async throws -> [CopiedDocument] {
    try await reading { rows in try rows.copiedDocuments(after: sequence) }
  }

  func bodies(of firsts: [Int64], after last: BodyKey?) async throws -> [CopiedBody] {
    try await reading { rows in try rows.copiedBodies(of: firsts, after: last) }
  }

  func locals(after last: LocalID?) async throws -> [CopiedLocal] {
    try await reading { rows in try rows.copiedLocals(after: last) }
  }
}

/// Reads the rows of an open store.
private struct FileReader: FileRowReader {
  let storage: SQLiteStorage
  /// Whether ``close()`` closes the store.
  let closes: Bool

  func state() async throws -> CopiedState {
    try await storage.file.run { file in
      if let failure = file.failure { throw failure }
      return CopiedState(header: file.header)
    }
  }
  func close() async { if closes { await storage.close() } }

  func reading<Value: Sendable>(
    _ read: @escaping @Sendable (StoreRows) throws -> Value
  ) async throws -> Value {
    try await storage.file.run { file in
      if let failure = file.failure { throw failure }
      guard let rows = file.rows else { throw ServiceError.closed }
      return try translating { try read(rows) }
    }
  }
}
