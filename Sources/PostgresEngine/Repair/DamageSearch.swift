import Documents
import Stores

/// Checks documents of a store as they are stored, without stopping at damage.
struct DamageSearch: Sendable {
  /// A document that is not as it was written.
  struct Finding: Sendable {
    /// What is wrong, for people.
    let reason: String
    /// Whether only bodies of ancestors are damaged, so that the document can be read.
    let isReadable: Bool
  }

  /// A body that is not as it was written.
  struct BodyPlace: Hashable, Sendable {
    /// The sequence number of the document's first change.
    let first: Int64
    /// The generation of the row.
    let generation: Int64
    /// The digest of the row.
    let digest: [UInt8]
  }

  private struct Owner: Sendable {
    let document: CopiedDocument
    var missing: Set<RevisionID>
  }

  private var owners: [Int64: Owner] = [:]
  /// The damaged documents, by the sequence numbers of their rows.
  private(set) var findings: [Int64: Finding] = [:]
  /// Bodies that must not be read.
  private(set) var damagedBodies: Set<BodyPlace> = []
  /// The last sequence number that was checked; nil at the end of the store.
  private(set) var last: Int64?

  /// The documents that can be read, in the order of their sequence numbers.
  var documents: [CopiedDocument] {
    owners.values.map(\.document).filter { findings[$0.row.sequence]?.isReadable ?? true }
      .sorted { $0.row.sequence < $1.row.sequence }
  }

  /// Checks some documents, those whose last change comes after a sequence number, with all that belongs to them.
  /// - Throws: errors other than damage.
  init(after sequence: Int64, in source: any RowSource) throws {
    let rows = try source.rows(StoreReader.documents(of: source.store, after: sequence)).all
    last = rows.last?.integer(0)
    var pieces: [Int64: [StoredPiece]]?
    var owners: [Int64: Owner] = [:]
    for row in rows {
      try finding(at: row.integer(0)) {
        let found = try LoadedDocuments.Found(row, in: source.store)
        _ = try found.row.document(found.body)
        _ = try found.content.arrival.arrival(of: found.row.revision, in: found.row)
        guard found.row.first >= 1, found.row.first <= found.row.sequence else {
          throw ServiceError.integrity("its first change has the number \(found.row.first)")
        }
        let newest = try found.tree()
        guard let winner = newest.winner, winner.revision == found.row.revision,
          winner.isDeleted == found.row.isDeleted
        else { throw ServiceError.integrity("the row's revision is not the tree's winner") }
        if newest.older > 0, pieces == nil {
          pieces = try source.pieces(of: rows.map { $0.integer(2) })
        }
        let tree = try found.whole { pieces?[$0] ?? [] }
        guard owners[found.row.first] == nil else {
          throw ServiceError.integrity("two documents have the first change \(found.row.first)")
        }
        owners[found.row.first] = Owner(
          document: CopiedDocument(row: found.row, tree: tree, body: found.content),
          missing: Set(newest.leaves.dropFirst().map(\.revision)))
      }
    }
    self.owners = owners
    try checkBodies(in: source)
    for owner in self.owners.values where !owner.missing.isEmpty {
      note(
        owner.document.row.sequence,
        "the body of a leaf of change \(owner.document.row.sequence) is missing",
        isReadable: false)
    }
  }

  private mutating func finding(at sequence: Int64, _ check: () throws -> Void) throws {
    do { try check() } catch {
      guard let error = ServiceError(error), error.code == .integrity else { throw error }
      note(sequence, StoreReader.message(of: error), isReadable: false)
    }
  }

  private mutating func note(_ sequence: Int64, _ reason: String, isReadable: Bool) {
    if let known = findings[sequence], !known.isReadable { return }
    findings[sequence] = Finding(reason: reason, isReadable: isReadable)
  }

  private mutating func checkBodies(in source: any RowSource) throws {
    let firsts = owners.keys.sorted()
    var last: BodyPlace?
    while !firsts.isEmpty {
      let rows = try source.rows(StoreReader.bodies(of: firsts, in: source.store, after: last)).all
      for row in rows {
        let place = BodyPlace(
          first: row.integer(0), generation: row.integer(1), digest: row.bytes(2))
        last = place
        guard let owner = owners[place.first] else { continue }
        let document = owner.document.row
        let revision = RevisionID(
          generation: Int(clamping: place.generation), digest: row.text(2) ?? "")
        let isSound =
          Checksum.body(document.id, revision, row.bytes(4)).matches(row.integer(3))
          && (try? StoredArrival(bytes: row.bytes(5)).arrival(of: revision, in: document)) != nil
        guard !isSound else {
          owners[place.first]?.missing.remove(revision)
          continue
        }
        damagedBodies.insert(place)
        note(
          document.sequence, "a stored body of change \(document.sequence) fails its checksum",
          isReadable: true)
      }
      guard !rows.isEmpty else { return }
    }
  }
}
