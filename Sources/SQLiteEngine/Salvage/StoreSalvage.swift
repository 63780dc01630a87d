import Documents
import SQLite
import StoreRecords
import Stores

/// Rebuilds a store's file from the readable pages of the damaged one.
///
/// The new file is written under another name. When all of it is on the disk, it replaces the old file, which stays
/// beside it (``DatabaseFile/damagedPath``).
struct StoreSalvage {
  /// The result of rebuilding a file.
  struct Outcome: Sendable, Equatable {
    /// The number of documents in the new file.
    var documents = 0
    /// The ids of the documents that are lost, as far as they are known; at most ``Damage/maximumNamed``.
    var lost: [String] = []
    /// How many documents more the old file's header counted; nil when it can't be read.
    var missing: Int?
    /// Whether nothing was lost and the file has the registry's epoch.
    var isWhole = false
    /// The store's epoch after the rebuild: a new one unless ``isWhole`` is true.
    var epoch = ""
  }

  /// The damaged file.
  let file: DatabaseFile
  /// The store's key.
  let key: String
  /// An empty database of this version.
  let blank: BlankDatabase
  /// The current time.
  let now: Timestamp

  /// Rebuilds the file.
  /// - Parameter epoch: the store's epoch in the registry.
  /// - Parameter extent: whether data may be lost.
  /// - Throws: `damaged` when the file is missing, when no row can be read, when the file is another store's, or when
  ///   data would be lost although `extent` forbids it; `storageFull`, `storage`. The file is then not replaced.
  func run(epoch: String, _ extent: RepairOutcome.Extent) throws -> Outcome {
    guard try Disk.entry(at: file.path)?.isRegularFile == true else {
      throw ServiceError.damaged("\(file.path): the file is missing")
    }
    // Every commit writes the header, so every log of this file contains it.
    try LoggedPages.copy(into: file) { rows in
      rows.contains { row in
        guard case .header(let values) = row else { return false }
        return StoreHeader(salvaged: values)?.key.equalsBytes(of: key) ?? false
      }
    }
    var rows = SalvagedStore(SalvagedPages(try PagedFile(file.path)), now: now)
    try rows.read()
    if let found = rows.header?.key, !found.equalsBytes(of: key) {
      throw ServiceError.damaged("the file is another store's")
    }
    try file.removeDraft()
    do {
      var outcome = try write(&rows, epoch: epoch)
      guard outcome.isWhole || extent == .everything else {
        throw ServiceError.damaged("rows are lost that nothing takes the place of")
      }
      if rows.isEmpty, !outcome.isWhole { throw ServiceError.damaged("no row can be read") }
      try file.keepDamaged()
      try file.adoptDraft()
      outcome.lost = Array(outcome.lost.prefix(Damage.maximumNamed))
      return outcome
    } catch {
      try? file.removeDraft()
      throw error
    }
  }

  /// Writes the new file completely and synchronises it to the disk.
  private func write(_ salvaged: inout SalvagedStore, epoch: String) throws -> Outcome {
    try Disk.write(try blank.image { _ in }, to: file.draftPath)
    let connection = try Connection(path: file.draftPath, mode: .readWrite)
    let rows = StoreRows(connection, as: blank)
    try connection.begin()
    try salvaged.writeDocuments(to: rows)
    try salvaged.writeBodies(to: rows)
    var header = StoreHeader(key: key, epoch: epoch)
    try rows.recount(&header)
    var outcome = Outcome(documents: Int(header.live + header.deleted))
    outcome.isWhole = salvaged.isWhole(header, epoch: epoch)
    outcome.lost = try salvaged.lostIDs(among: rows)
    if let old = salvaged.header {
      header.lastSequence = max(header.lastSequence, old.lastSequence)
      outcome.missing = max(0, Int(clamping: old.live + old.deleted) - outcome.documents)
    }
    if !outcome.isWhole {
      // The notes of damage have a sequence number that no earlier note has.
      header.lastSequence += 1
      var generator = SystemRandomNumberGenerator()
      header.epoch = Hex.string(generator.next(), generator.next())
    }
    outcome.epoch = header.epoch
    try rows.replaceLocals(with: salvaged.locals)
    if !outcome.isWhole { try note(outcome.lost, in: rows, header) }
    try header.write(to: connection)
    try connection.commit()
    try connection.close()
    try Disk.synchronize(file.draftPath)
    return outcome
  }

  /// Writes notes that tell the store's owner which documents are lost.
  private func note(_ ids: [String], in rows: StoreRows, _ header: StoreHeader) throws {
    for (part, id) in ids.prefix(Damage.maximumNamed).enumerated() {
      let damage = Damage(id: id, revision: "", restored: nil, found: now)
      let edit = LocalEdit(
        LocalID(damage: header.lastSequence, part: part), damage.note(with: []),
        expires: now.adding(seconds: Damage.keptSeconds))
      try rows.apply(edit)
    }
  }
}
