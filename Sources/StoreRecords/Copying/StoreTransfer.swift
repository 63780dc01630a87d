package import Stores

/// Copies stores from one engine to another. A copy has the epoch, the sequence numbers, the revisions, the bodies and
/// the local documents of the original, so that a client notices nothing.
package struct StoreTransfer: Sendable {
  private let source: any CopyingEngine
  private let target: any CopyingEngine
  private let whileUsed: Bool

  /// Creates a transfer. Nobody else may use the target meanwhile.
  /// - Parameter whileUsed: whether other processes may use the source meanwhile.
  package init(
    from source: any CopyingEngine, to target: any CopyingEngine, whileUsed: Bool = false
  ) {
    self.source = source
    self.target = target
    self.whileUsed = whileUsed
  }

  /// What became of a store.
  package enum Outcome: Sendable, Equatable {
    /// It was copied and compared.
    case copied(documents: Int64, bytes: Int64)
    /// The target has it already, with the same epoch and the same last sequence number.
    case alreadyThere
    /// The source does not have it.
    case absent
  }

  /// Copies a store and compares the copy with the original before the copy gets its name.
  ///
  /// An earlier copy is replaced when it has the same epoch and ends at a lower sequence number.
  /// - Throws: `exists` when the target has another store of this name, or a later state of this one; `damaged` and
  ///   `integrity` when the original is damaged; `storage` when the copy differs from it; the errors of both engines.
  package func copy(_ name: StoreName) async throws -> Outcome {
    guard let reader = try await source.rowReader(of: name, whileUsed: whileUsed) else {
      return .absent
    }
    do {
      let outcome = try await copy(name, from: reader)
      await reader.close()
      return outcome
    } catch {
      await reader.close()
      throw error
    }
  }

  private func copy(_ name: StoreName, from reader: any RowReader) async throws -> Outcome {
    var walk = try await RowWalk(over: reader)
    let header = walk.state.header
    if try await isThere(name, header) { return .alreadyThere }
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
  /// - Throws: `exists`.
  private func isThere(_ name: StoreName, _ header: StoreHeader) async throws -> Bool {
    guard let reader = try await target.rowReader(of: name) else { return false }
    let found: StoreHeader
    do { found = try await reader.state().header } catch {
      await reader.close()
      throw error
    }
    await reader.close()
    guard found.epoch.utf8.elementsEqual(header.epoch.utf8) else {
      throw ServiceError(.exists, "The target has another store of this name", detail: name.key)
    }
    guard found.lastSequence <= header.lastSequence else {
      throw ServiceError(
        .exists, "The target has a later state of this store", detail: name.key)
    }
    return found.lastSequence == header.lastSequence
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
