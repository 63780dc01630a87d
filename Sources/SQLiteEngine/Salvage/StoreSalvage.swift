import Documents
import SQLite
import StoreRecords
import Stores

/// Makes a store's file anew from the pages that are left of a damaged one.
///
/// The new file is written under another name and put in the old one's place when all of it is on the disk. The old one
/// stays beside it (``DatabaseFile/damagedPath``).
struct StoreSalvage {
  /// What came of it.
  struct Outcome: Sendable, Equatable {
    /// Documents of the new file.
    var documents = 0
    /// Documents that are not in it, as far as their ids are known; ``Damage/maximumNamed`` at most.
    var lost: [String] = []
    /// How many documents the old file says that it had beyond those of the new one; nil where it does not say.
    var missing: Int?
    /// Whether everything is what it was.
    var isWhole = false
    /// The store's life from now on: another one unless everything is what it was.
    var epoch = ""
  }

  /// The damaged file.
  let file: DatabaseFile
  /// The store's key.
  let key: String
  /// What a file of this version looks like.
  let blank: BlankDatabase
  /// The clock.
  let now: Timestamp

  /// Makes the file anew.
  /// - Parameter epoch: the life that the registry knows of.
  /// - Parameter extent: whether a store may come out of it that lacks something.
  /// - Throws: `damaged` where nothing is left, where the file is another store's, or something would be lost that may
  ///   not be; `storageFull`, `storage`. The file is as it was then.
  func run(epoch: String, _ extent: Mending.Extent) throws -> Outcome {
    guard try Disk.entry(at: file.path)?.isRegularFile == true else {
      throw ServiceError.damaged("\(file.path): the file is missing")
    }
    // Every commit writes the header.
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

  /// Writes the new file, complete and on the disk.
  private func write(_ salvaged: inout SalvagedStore, epoch: String) throws -> Outcome {
    try Disk.write(try blank.image { _ in }, to: file.draftPath)
    let connection = try Connection(path: file.draftPath, mode: .readWrite)
    let rows = StoreRows(connection)
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
      // The notes of what is lost have a number that no earlier note has.
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

  /// Notes which documents are lost, for whom the store belongs to.
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
