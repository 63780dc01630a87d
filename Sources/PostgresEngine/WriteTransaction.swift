import Documents
import Stores

/// A transaction that writes to one store. It locks the store's row, so that no other transaction on any node writes to
/// the store meanwhile.
///
/// Writes wait and are sent together with the next statement that reads, or with the commit. What was read or written
/// of a document is kept until the end, so that nothing is read twice.
final class WriteTransaction: RowSource {
  let store: Int64
  private let epoch: String
  let connection: Connection
  /// The store's row at the start of the transaction.
  private(set) var former: StoreRow
  /// The store's row as the view shows it, with the changes of the updates so far.
  var current: StoreRow
  /// The writes that are not sent yet.
  private var pending: [Call] = []
  /// The number of bytes written so far.
  private var written: Int64 = 0
  /// The statement of the last ``repeatedRows(_:)``.
  private(set) var repeated: Call?
  /// The statement that was run together with the first ones, and its rows; nil once they may have changed.
  private var foreseen: (call: Call, rows: Rows)?
  /// The error of the statement that has failed.
  private var failure: (any Error)?
  /// The present state of documents, where it is known. An inner nil means that there is no such document.
  private var documents: [DocumentID: LoadedDocuments.Found?] = [:]
  /// The sizes of the bodies that are not the winner's, by the document's key in `bodies`.
  private var bodySizes: [Int64: BodySizes] = [:]
  /// The pieces of histories that were read, by the document's key in `histories`.
  private var knownPieces: [Int64: [StoredPiece]] = [:]
  /// The present state of local documents, where it is known. An inner nil means that there is no such local document.
  private var locals: [LocalID: StoredLocal?] = [:]
  /// The numbers of indexes, where they are known. An inner nil means that there is no such index.
  private var indexes: [IndexID: Int64?] = [:]

  /// Begins a transaction: locks the store's row and reads documents, in one round trip.
  /// - Parameter edits: how often each of the documents is edited, as far as it is known. More edits may take another round
  ///   trip.
  /// - Parameter expected: what the previous transaction asked by ``repeatedRows(_:)``.
  /// - Throws: `absent` for a store that another node has erased, `damaged`, `integrity`.
  init(
    on connection: Connection, store: Int64, epoch: String, loading ids: Set<DocumentID>,
    edits: Int = 1, expecting expected: Call? = nil
  ) throws {
    self.store = store
    self.epoch = epoch
    self.connection = connection
    var calls = [Call(.begin), Call(StoreRow.lock, .integer(store))]
    if !ids.isEmpty {
      let list = Value.list(ids.map { Array($0.text.utf8) })
      calls.append(Call(Self.documentsByID, .integer(store), list))
      let firstKept = Value.integer(BodySizes.firstKept(through: edits))
      calls.append(Call(Self.bodySizesByID, .integer(store), list, firstKept))
      let locals = LocalID.read(with: ids).map { Array($0.text.utf8) }
      calls.append(Call(Self.someLocals, .integer(store), .list(locals)))
    }
    if let expected { calls.append(expected) }
    do {
      let rows = try connection.run(calls)
      former = try StoreRow.requireThere(rows[1].first, epoch: epoch)
      current = former
      if !ids.isEmpty { try take(ids, edits: edits, rows[2], rows[3], rows[4]) }
      if let expected { foreseen = (expected, rows[calls.count - 1]) }
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Continues a transaction that has the lock on the store's row.
  init(of row: StoreRow, on connection: Connection) {
    (store, epoch) = (row.number, row.header.epoch)
    (former, current) = (row, row)
    self.connection = connection
  }

  /// Sends the waiting writes and others.
  func flush(_ calls: [Call]) throws {
    _ = try connection.run(pending + calls)
    pending = []
  }

  var waited: Int64 { connection.waited }
  func storeRow() throws -> StoreRow { current }

  func rows(_ call: Call) throws -> Rows {
    try requireWhole()
    let calls = pending + [call]
    pending = []
    do { return try connection.run(calls)[calls.count - 1] } catch {
      failure = error
      throw error
    }
  }

  func repeatedRows(_ call: Call) throws -> Rows {
    repeated = call
    if let foreseen, foreseen.call.values == call.values,
      foreseen.call.statement.sql == call.statement.sql
    {
      return foreseen.rows
    }
    return try rows(call)
  }

  /// Checks that no statement has failed. PostgreSQL aborts a transaction at the first statement that fails. If a rule
  /// ignores this error, its writes must not count as written.
  /// - Throws: the error of the statement that failed.
  func requireWhole() throws {
    if let failure { throw failure }
  }

  /// A document with body, tree and arrival; nil if there is none.
  /// - Throws: `integrity`.
  func whole(_ id: DocumentID) throws -> LoadedDocuments.Found? {
    if let known = documents[id] { return known }
    let row = try rows(PostgresView.wholeByID, .text(id.text)).first
    let found = try row.map { try LoadedDocuments.Found($0, in: store) }
    documents[id] = .some(found)
    return found
  }

  /// A local document, expired or not; nil when there is none.
  /// - Throws: `integrity`.
  func local(_ id: LocalID) throws -> StoredLocal? {
    if let known = locals[id] { return known }
    let found = try storedLocal(id)
    locals[id] = .some(found)
    return found
  }

  /// Sends the waiting writes and the store's row, and commits, in one round trip.
  /// - Parameter changed: the time of the change, in milliseconds since 1970.
  /// - Throws: `outcomeUnknown` if the transaction may be committed: the connection was lost while the answer was due,
  ///   or the server stopped waiting for a standby. After any other error, nothing is written.
  func commit(at changed: Int64) throws {
    var row = current
    // Adds at least 1, so that `written` grows with every commit.
    row.written += max(1, written)
    row.changed = max(row.changed, changed)
    row.timelines.note(connection.timeline, after: former.header)
    connection.notices.clear()
    do { _ = try connection.run(pending + [row.updating, Call(.commit)]) } catch {
      guard let error = error as? PostgresError, !error.isLost else {
        throw ServiceError.outcomeUnknown(String(reflecting: error))
      }
      connection.rollBack()
      throw error
    }
    if let warning = connection.notices.unreplicated { throw ServiceError.outcomeUnknown(warning) }
  }

  /// Undoes the transaction's writes without waiting for the answer.
  func undo() {
    pending = []
    connection.rollBack()
  }

  /// Adds a write to rows that are not as they were written. What is known of rows is read again.
  func repair(_ call: Call) {
    write(call)
    (documents, bodySizes, knownPieces, locals) = ([:], [:], [:], [:])
  }

  private func take(
    _ ids: Set<DocumentID>, edits: Int, _ found: Rows, _ bodies: Rows, _ locals: Rows
  ) throws {
    for id in ids { documents[id] = .some(nil) }
    for id in LocalID.read(with: ids) { self.locals[id] = .some(nil) }
    for row in locals.all {
      let id = LocalID(stored: row.text(4) ?? "")
      self.locals[id] = try StoredLocal(row, id, in: store)
    }
    for row in found.all {
      let document = try LoadedDocuments.Found(row, in: store)
      documents[document.row.id] = document
      bodySizes[document.row.first] = BodySizes(
        without: BodySizes.unread(at: document.row.revision.generation, before: edits))
    }
    for row in bodies.all { note(row, of: row.integer(0), from: 1) }
  }

  private func note(_ row: Row, of first: Int64, from start: Int) {
    // A digest that is not text is damaged and belongs to no revision.
    let revision = RevisionID(
      generation: Int(row.integer(start)), digest: row.text(start + 1) ?? "")
    bodySizes[first, default: BodySizes()][revision] = row.integer(start + 2)
  }

  /// The sizes of a document's bodies. Reads them if what is asked is not known.
  private func bodySizes(of first: Int64, where isKnown: (BodySizes) -> Bool) throws -> BodySizes {
    if let known = bodySizes[first], isKnown(known) { return known }
    let found = try rows(Self.bodySizesOfOne, .integer(first))
    bodySizes[first] = BodySizes()
    for row in found.all { note(row, of: first, from: 0) }
    return bodySizes[first] ?? BodySizes()
  }

  private func bodySize(of first: Int64, _ revision: RevisionID) throws -> Int64? {
    try bodySizes(of: first) { $0.isKnown(revision) }[revision]
  }

  /// The pieces of how many histories are read at once.
  private static let historiesAtOnce = 100

  private func write(_ call: Call) {
    written += call.writtenBytes
    pending.append(call)
  }
}

extension WriteTransaction: StoreTables {
  func bodies(of first: Int64, below generation: Int) throws -> [StoredBodyKey] {
    try bodySizes(of: first) { $0.isKnown(below: generation) }.keys(below: generation)
  }

  func insert(
    _ body: StoredBody, of first: Int64, _ revision: RevisionID, replacing former: StoredBodyKey?
  ) throws -> Int64 {
    let removed = try former.map { try removeBody(with: $0, of: first) } ?? 0
    write(.putting(body, of: first, revision, in: store))
    bodySizes[first]?[revision] = Int64(body.bytes.count)
    return Int64(body.bytes.count) - removed
  }

  func removeBody(of first: Int64, _ revision: RevisionID) throws -> Int64 {
    guard let count = try bodySize(of: first, revision) else { return 0 }
    return try removeBody(with: StoredBodyKey(revision: revision, count: count), of: first)
  }

  func removeBody(with key: StoredBodyKey, of first: Int64) throws -> Int64 {
    pending.append(
      call(
        Self.removeBody, .integer(first), .integer(key.revision.generation),
        .text(key.revision.digest.text)))
    bodySizes[first]?[key.revision] = nil
    return key.count
  }

  /// The first question reads the pieces of other loaded documents too, in the same round trip.
  func pieces(of first: Int64) throws -> [StoredPiece] {
    if let known = knownPieces[first] { return known }
    var firsts = [first]
    for document in documents.values where firsts.count < Self.historiesAtOnce {
      guard let other = document?.row.first, other != first, knownPieces[other] == nil,
        let tree = try? document?.tree(), tree.older > 0
      else { continue }
      firsts.append(other)
    }
    let found = try pieces(of: firsts)
    for first in firsts { knownPieces[first] = found[first] ?? [] }
    return found[first] ?? []
  }

  func insert(_ stored: StoredPiece, of first: Int64) throws {
    knownPieces[first] = nil
    write(.putting(stored, of: first, in: store))
  }

  func removePiece(of first: Int64, at generation: Int) throws {
    knownPieces[first] = nil
    pending.append(call(Self.removePiece, .integer(first), .integer(generation)))
  }

  func removePieces(of first: Int64, below generation: Int) throws {
    knownPieces[first] = nil
    pending.append(call(Self.removePieces, .integer(first), .integer(generation)))
  }

  func put(
    _ row: StoredDocument, body: StoredBody, tree: [UInt8]?, replacing old: StoredDocument?
  ) throws {
    foreseen = nil
    if old == nil, bodySizes[row.first] == nil { bodySizes[row.first] = BodySizes() }
    write(.putting(row, body: body, tree: tree, in: store))
  }

  func remove(_ row: StoredDocument) throws {
    foreseen = nil
    pending.append(call(Self.removeDocument, .text(row.id.text)))
    documents[row.id] = .some(nil)
  }

  func newestSequence() throws -> Int64 { try rows(Self.newest).first?.integer(0) ?? 0 }

  func removeEntries(of id: DocumentID) throws {
    pending.append(call(Self.removeEntries, .text(id.text)))
  }

  func removeExpiredLocals(at now: Timestamp) throws {
    pending.append(
      call(Self.removeExpired, .integer(now.milliseconds), .integer(Self.expiredAtOnce)))
    // The statement removes some of the expired documents. Which ones is not known, so all of them are forgotten here.
    locals = locals.filter { $0.value?.document(at: now) != nil || $0.value == nil }
  }

  func apply(_ edit: LocalEdit) throws {
    guard let document = edit.document else {
      pending.append(call(Self.removeLocal, .text(edit.id.text)))
      locals[edit.id] = .some(nil)
      return
    }
    let local = StoredLocal(document, expires: edit.expires?.milliseconds)
    locals[edit.id] = local
    write(.putting(local, edit.id, in: store))
  }

  func noteMove(from old: Int64?, to new: Int64?) {}

  func note(_ document: LoadedDocuments.Found) { documents[document.row.id] = document }

  func forget(_ id: DocumentID) { documents[id] = nil }
}

/// Indexes.
extension WriteTransaction {
  /// The sequence number in the row of an index that is being removed.
  private static let removalSequence: Int64 = -1

  func apply(_ edit: IndexEdit) throws {
    switch edit {
    case .remove(let index, let entries):
      guard let number = try number(of: index) else { return }
      pending.append(call(Self.removeSome, .integer(number), .integer(entries)))
      if try rows(Self.hasEntries, .integer(number)).first != nil {
        note(index, number, Self.removalSequence)
      } else {
        pending.append(call(Self.removeIndex, .text(index.text)))
        indexes[index] = .some(nil)
      }
    case .advance(let index, let documents, let entries, let sequence):
      let known = try number(of: index)
      let number = if let known { known } else { try newNumber() }
      note(index, number, sequence)
      if !documents.isEmpty {
        pending.append(
          call(
            Self.removeOfDocuments, .integer(number), .list(documents.map { Array($0.text.utf8) })))
      }
      guard !entries.isEmpty else { return }
      let checksums = entries.map { entry in
        PostgresView.checksum(number, entry.key, entry.id, entry.content, in: store).value
      }
      written += Int64(entries.count) * Call.rowBytes
      write(
        call(
          Self.addEntries, .integer(number), .list(entries.map(\.key)),
          .list(entries.map { Array($0.id.text.utf8) }), .integers(checksums),
          .list(entries.map(\.content))))
    }
  }

  private func note(_ index: IndexID, _ number: Int64, _ sequence: Int64) {
    indexes[index] = number
    write(
      call(
        Self.putIndex, .text(index.text), .integer(number), .integer(sequence),
        .integer(PostgresView.checksum(index, number, sequence, in: store).value)))
  }

  private func number(of index: IndexID) throws -> Int64? {
    if let known = indexes[index] { return known }
    let found = try PostgresView.index(index, in: self)?.number
    indexes[index] = .some(found)
    return found
  }

  private func newNumber() throws -> Int64 { try rows(Self.newIndexNumber).first?.integer(0) ?? 1 }
}
