/// Copies stores from one engine to another. A copy has the epoch, the sequence numbers, the revisions, the bodies and
/// the local documents of the original, so that a client notices nothing.
///
/// What the target has of a store must be a copy that an earlier transfer from the same source made.
package struct StoreTransfer: Sendable {
  private let source: any CopyingEngine
  private let target: any CopyingEngine
  private let whileUsed: Bool

  /// Creates a transfer. No one else may use the target meanwhile.
  /// - Parameter whileUsed: whether other processes may use the source meanwhile.
  package init(
    from source: any CopyingEngine, to target: any CopyingEngine, whileUsed: Bool = false
  ) {
    self.source = source
    self.target = target
    self.whileUsed = whileUsed
  }

  package enum Outcome: Sendable, Equatable {
    /// It was copied and compared.
    case copied(documents: Int64, bytes: Int64)
    /// The target has it already: the epoch, the counts and all rows are the same.
    case alreadyThere
    /// The source does not have it.
    case absent
  }

  /// Copies a store and compares the copy with the original before the copy gets its name.
  ///
  /// An earlier copy that differs is replaced, also when the original was erased and made again since.
  /// - Throws: `exists` when the target has a later state of this store; `damaged` and `integrity` when the original is
  ///   damaged; `storage` when the copy differs from it; the errors of both engines.
  package func copy(_ name: StoreName) async throws -> Outcome {
    guard let reader = try await source.rowReader(of: name, whileUsed: whileUsed) else {
      return .absent
    }
    return try await closing(reader.close) { try await copy(name, from: reader) }
  }

  /// Copies a store whose reader is open; see ``copy(_:)``. The caller closes the reader.
  package func copy(_ name: StoreName, from reader: any RowReader) async throws -> Outcome {
    var walk = try await RowWalk(over: reader)
    let header = walk.state.header
    if try await isThere(name, header, reader) { return .alreadyThere }
    let writer = try await target.rowWriter(of: name, epoch: header.epoch)
    do {
      while let page = try await walk.next() { try await writer.write(page) }
      let copy = try await writer.complete(header)
      try await compare(copy, with: walk)
      try await writer.publish()
    } catch {
      await writer.abandon()
      throw error
    }
    return .copied(
      documents: header.live + header.deleted, bytes: header.bytes + header.otherBodyBytes)
  }

  /// Whether the target has the store already.
  ///
  /// The sequence number alone does not tell: local documents change without one.
  /// - Throws: `exists`; the errors of the original's reader.
  private func isThere(
    _ name: StoreName, _ header: StoreHeader, _ original: any RowReader
  ) async throws -> Bool {
    guard let reader = try await target.rowReader(of: name) else { return false }
    return try await closing(reader.close) { try await isSame(reader, header, original) }
  }

  private func isSame(
    _ copy: any RowReader, _ header: StoreHeader, _ original: any RowReader
  ) async throws -> Bool {
    let found = try await copy.state().header
    guard found.epoch.utf8.elementsEqual(header.epoch.utf8) else { return false }
    guard found.lastSequence <= header.lastSequence else {
      throw ServiceError(.exists, "The target has a later state of this store", detail: header.key)
    }
    guard found == header else { return false }
    var (walk, other) = (try await RowWalk(over: original), try await RowWalk(over: copy))
    let digest = try await walk.run()
    do { return try await other.run() == digest } catch let error as ServiceError
      where error.code == .integrity || error.code == .damaged
    {
      // A damaged copy is made anew.
      return false
    }
  }

  private func compare(_ copy: any RowReader, with original: RowWalk) async throws {
    var walk = try await RowWalk(over: copy)
    var header = walk.state.header
    // Until the copy has its name, it may have another one.
    header.key = original.state.header.key
    let digest = try await walk.run()
    guard header == original.state.header, digest == original.result else {
      throw ServiceError(
        .storage, "The copy of a store differs from the original", detail: header.key)
    }
  }
}
