import Documents
import SQLite
import StoreRecords
import Stores

/// A row of a page, whose kind is recognised by the types of its values.
enum SalvagedRow {
  /// A document: its columns, body, history and arrival.
  case document(DamagedDocument, StoredArrival)
  /// The body of a revision that is not the winner, unverified.
  case body([Record.Value], number: Int64)
  /// A piece of a document's history, unverified.
  case piece(StoredPiece, of: Int64)
  /// A local document.
  case local(RowValues)
  /// A store's header.
  case header([Record.Value])
  /// An entry of the registry.
  case entry(RowValues)
  /// The root page of a table or an index, by its name.
  case root(name: String, page: Int)

  /// Recognises a row; nil for a row that is computed from others, and for a row of an unknown kind.
  init?(_ row: SalvagedPages.Row) {
    let values = row.record.values
    switch row.kind {
    case .tableLeaf:
      if let found = Self.document(row) {
        self = found
      } else if (8...10).contains(values.count), values[0].isNull, values[1].bytes != nil,
        values[2].bytes != nil, values[3...7].allSatisfy({ $0.integer != nil })
      {
        self = .header(values)
      } else if (6...7).contains(values.count), values[0].isNull, values[3].bytes != nil,
        values[5].bytes != nil, [1, 2, 4].allSatisfy({ values[$0].integer != nil })
      {
        self = .body(values, number: row.number)
      } else if values.count == 5, let name = values[1].bytes, let page = values[3].integer {
        self = .root(name: String(decoding: name, as: UTF8.self), page: Int(clamping: page))
      } else {
        return nil
      }
    case .indexLeaf, .indexInterior:
      guard let found = Self.local(values) ?? Self.entry(values) ?? Self.piece(values) else {
        return nil
      }
      self = found
    case .tableInterior: return nil
    }
  }

  /// Whether the row matches its checksum. Rows that can't be checked alone count as sound.
  var isSound: Bool {
    switch self {
    case .document(let document, _): document.head.isSound
    case .local(let row), .entry(let row): row.isSound
    case .body, .piece, .header, .root: true
    }
  }

  private static func document(_ row: SalvagedPages.Row) -> SalvagedRow? {
    let values = row.record.values
    guard (14...15).contains(values.count), values[0].isNull, let id = values[1].bytes,
      let digest = values[4].bytes, let checksum = values[11].integer, let body = values[12].bytes,
      [2, 3, 5, 7, 8, 9].allSatisfy({ values[$0].integer != nil })
    else { return nil }
    let head = RowValues(
      kind: .head,
      values: [
        .integer(row.number), .text(id), .integer(values[2].integer ?? 0),
        .integer(values[3].integer ?? 0), .text(digest), .integer(values[5].integer ?? 0),
        .optionalText(values[6].bytes), .integer(values[7].integer ?? 0),
        .integer(values[8].integer ?? 0), .integer(values[9].integer ?? 0),
        .optionalInteger(values[10].integer),
      ], checksum: checksum)
    return .document(
      DamagedDocument(
        head: head, body: RowValues(kind: .body, values: [], content: body, checksum: 0),
        tree: values[13].bytes.map {
          RowValues(kind: .tree, values: [], content: $0, checksum: 0)
        }, others: []),
      StoredArrival(bytes: values.count > 14 ? values[14].bytes ?? [] : []))
  }

  private static func local(_ values: [Record.Value]) -> SalvagedRow? {
    guard values.count == 5, let id = values[0].bytes, let revision = values[1].integer,
      values[2].isNull || values[2].integer != nil, let checksum = values[3].integer,
      let body = values[4].bytes
    else { return nil }
    return .local(
      RowValues(
        kind: .local,
        values: [.text(id), .integer(revision), .optionalInteger(values[2].integer)],
        content: body, checksum: checksum))
  }

  private static func piece(_ values: [Record.Value]) -> SalvagedRow? {
    guard values.count == 4, let first = values[0].integer, let generation = values[1].integer,
      let checksum = values[2].integer, let revisions = values[3].bytes
    else { return nil }
    let piece = HistoryPiece(generation: Int(clamping: generation), bytes: revisions)
    return .piece(StoredPiece(piece: piece, checksum: checksum), of: first)
  }

  private static func entry(_ values: [Record.Value]) -> SalvagedRow? {
    guard values.count == 4, let key = values[0].bytes, let epoch = values[1].bytes,
      let isErasing = values[2].integer, let checksum = values[3].integer
    else { return nil }
    return .entry(
      RowValues(
        kind: .entry, values: [.text(key), .text(epoch), .integer(isErasing)], checksum: checksum))
  }
}
