import Documents

/// Reads all rows of a store in order, and verifies them: each body and arrival, each tree and its winner, that every
/// leaf has a body, and the counts.
package struct RowWalk {
  private enum Position {
    case documents(after: Int64)
    case bodies(after: BodyKey?)
    case locals(after: LocalID?)
    case end
  }

  private let reader: any RowReader
  /// The store's state before the first page.
  package let state: CopiedState
  private var position = Position.documents(after: 0)
  private var digest = RowDigest()
  /// The documents of the latest page of documents.
  private var owners: [StoredDocument] = []
  /// The owners' rows, by the sequence number of their first change.
  private var ownersByFirst: [Int64: StoredDocument] = [:]
  /// The leaves of these documents whose bodies have not been read yet.
  private var missing: [Int64: Set<RevisionID>] = [:]
  private var counted: StoreHeader

  package init(over reader: any RowReader) async throws {
    self.reader = reader
    state = try await reader.state()
    counted = StoreHeader(
      key: state.header.key, epoch: state.header.epoch, lastSequence: state.header.lastSequence)
  }

  /// The next rows; nil at the end.
  /// - Throws: `integrity` for a row that differs from what was written; `damaged` for counts that differ from the
  ///   rows; `unavailable` when the store was changed meanwhile; the errors of the reader.
  package mutating func next() async throws -> RowPage? {
    while true {
      switch position {
      case .documents(let sequence):
        let documents = try await reader.documents(after: sequence)
        guard !documents.isEmpty else {
          position = .locals(after: nil)
          continue
        }
        return .documents(try take(documents))
      case .bodies(let last):
        let bodies = try await reader.bodies(of: owners.map(\.first), after: last)
        guard let end = bodies.last else {
          try endOwners()
          continue
        }
        position = .bodies(after: BodyKey(end))
        for body in bodies { try take(body) }
        return .bodies(bodies)
      case .locals(let last):
        let locals = try await reader.locals(after: last)
        guard let end = locals.last else {
          try await requireCounts()
          position = .end
          continue
        }
        position = .locals(after: end.id)
        for local in locals { digest.add(local) }
        return .locals(locals)
      case .end: return nil
      }
    }
  }

  /// Reads all rows.
  /// - Returns: the digest of the rows; see ``RowDigest``.
  /// - Throws: the errors of ``next()``.
  package mutating func run() async throws -> String {
    while try await next() != nil {}
    return result
  }

  /// The digest of the rows so far.
  package var result: String { digest.text }

  private mutating func take(_ documents: [CopiedDocument]) throws -> [CopiedDocument] {
    var verified: [CopiedDocument] = []
    for document in documents {
      let document = try document.verified()
      let row = document.row
      guard ownersByFirst.updateValue(row, forKey: row.first) == nil else {
        throw ServiceError.integrity("two documents have the first change \(row.first)")
      }
      digest.begin(document)
      owners.append(row)
      let others = document.tree.leaves.dropFirst().map(\.revision)
      if !others.isEmpty { missing[row.first] = Set(others) }
      count(row, document.body)
      verified.append(document)
    }
    position = .bodies(after: nil)
    return verified
  }

  private mutating func take(_ found: CopiedBody) throws {
    guard let owner = ownersByFirst[found.first] else {
      throw ServiceError.integrity("a stored body belongs to no document")
    }
    try found.body.requireSound(of: found.revision, in: owner)
    digest.add(found)
    missing[found.first]?.remove(found.revision)
    counted.otherBodyBytes += Int64(found.body.bytes.count)
  }

  /// Ends the documents of a page, because all of their bodies have been read.
  private mutating func endOwners() throws {
    for owner in owners {
      guard missing[owner.first]?.isEmpty ?? true else {
        throw ServiceError.integrity("the body of a leaf of change \(owner.sequence) is missing")
      }
      digest.end(owner)
    }
    position = .documents(after: owners.last?.sequence ?? .max)
    (owners, ownersByFirst, missing) = ([], [:], [:])
  }

  private mutating func count(_ row: StoredDocument, _ body: StoredBody) {
    counted.newest = row.sequence
    counted.live += row.isDeleted ? 0 : 1
    counted.deleted += row.isDeleted ? 1 : 0
    counted.bytes += Int64(body.bytes.count)
  }

  private func requireCounts() async throws {
    guard try await reader.state() == state else {
      throw ServiceError(
        .unavailable, "A server writes to the database; stop every server that uses it")
    }
    guard counted == state.header else {
      throw ServiceError.damaged("the counts in the header differ from the rows")
    }
  }
}

extension CopiedDocument {
  /// The document without the checksum of its tree, which each engine encodes in its own way.
  /// - Throws: `integrity` when the body, its arrival or the tree differs from what was written.
  fileprivate func verified() throws -> CopiedDocument {
    guard let winner = tree.winner, winner.revision == row.revision,
      winner.isDeleted == row.isDeleted, tree.older == 0
    else { throw ServiceError.integrity("the tree of change \(row.sequence) has another winner") }
    try body.requireSound(of: row.revision, in: row)
    var row = row
    row.treeChecksum = nil
    return CopiedDocument(row: row, tree: tree, body: body)
  }
}

extension StoredBody {
  /// - Throws: `integrity` when the bytes or the arrival differ from what was written.
  fileprivate func requireSound(of revision: RevisionID, in document: StoredDocument) throws {
    guard Checksum.body(document.id, revision, bytes).matches(checksum) else {
      throw ServiceError.integrity(
        "a stored body of change \(document.sequence) fails its checksum")
    }
    _ = try arrival.arrival(of: revision, in: document)
  }
}
