import Documents
import Hotels
import JSON
import SQLite

/// One import, from its first byte until the new catalogue replaces the old one. All calls block. Not `Sendable`.
final class ImportRun {
  /// The limits of one row's JSON. Its size is limited by ``RowSplitter/maximumRowBytes``.
  private static let limits = JSONLimits(
    maximumBytes: RowSplitter.maximumRowBytes, maximumDepth: BracketStack.maximumDepth)

  private let files: CatalogueFiles
  /// Nil at the end.
  private var lock: ImportLock?
  private let writer: CatalogueWriter
  private let origin: (kind: CatalogueOrigin.Kind, name: String, date: Timestamp)
  private let policy: BadRowPolicy
  private let replacement: Replacement
  private let report: (ImportEvent) -> Void
  private var splitter = RowSplitter()
  private var progress = ImportProgress()
  private var badRows: [BadRow] = []

  /// Takes the import lock and starts a draft.
  /// - Throws: `busy`, `storageFull`, `unavailable`.
  init(
    into files: CatalogueFiles, kind: CatalogueOrigin.Kind, name: String, date: Timestamp,
    onBadRow policy: BadRowPolicy, as replacement: Replacement = .rebuilt,
    report: @escaping (ImportEvent) -> Void
  ) throws(CatalogueError) {
    self.files = files
    self.origin = (kind, name, date)
    self.policy = policy
    self.replacement = replacement
    self.report = report
    lock = try ImportLock(files)
    files.removeDraft()
    do {
      writer = try CatalogueWriter(path: files.draft)
    } catch {
      files.removeDraft()
      throw CatalogueError(error)
    }
  }

  /// Imports the next bytes.
  /// - Throws: `malformed`, `badRow`, `storageFull`, `unavailable`. The caller must then call ``abandon()``.
  func take(_ chunk: [UInt8]) throws(CatalogueError) {
    var position = 0
    while let row = try splitter.next(in: chunk, from: &position) { try take(row) }
    progress.bytes += chunk.count
    report(.progress(progress))
  }

  /// Ends the import and replaces the old catalogue by the new one.
  /// - Throws: `truncated`, `empty`, `doubtful`, `storageFull`, `unavailable`. The caller must then call ``abandon()``.
  func finish() throws(CatalogueError) -> ImportSummary {
    try splitter.finish()
    let hotels = progress.rows - progress.replaced
    guard hotels > 0 else {
      throw CatalogueError(.empty, "There is no hotel in the file.")
    }
    if case .imported(isForced: false) = replacement {
      // A former catalogue that can't be read is no measure.
      let former = try? OpenCatalogue.origin(ofFile: files.database)
      try ImportCheck.check(progress, hotels: hotels, former: former)
    }
    let origin = CatalogueOrigin(
      kind: origin.kind, name: origin.name, rows: hotels, date: origin.date)
    try CatalogueError.translating { try writer.finish(origin) }
    if case .imported = replacement { try files.keepFormer() }
    try files.publishDraft()
    lock = nil
    return ImportSummary(hotels: hotels, progress: progress, badRows: badRows)
  }

  /// Removes the draft.
  func abandon() {
    files.removeDraft()
    lock = nil
  }

  private func take(_ row: SplitRow) throws(CatalogueError) {
    switch row.content {
    case .text(let text):
      switch Self.read(text) {
      case .success(let (hotel, text)):
        let replaced = try CatalogueError.translating {
          try writer.put(hotel, text)
        }
        progress.rows += 1
        if replaced { progress.replaced += 1 }
      case .failure(let error):
        try refuse(row, error.reason)
      }
    case .tooLong:
      try refuse(row, "The row has more than \(RowSplitter.maximumRowBytes) bytes.")
    case .broken(let reason):
      try refuse(row, reason)
    }
  }

  private func refuse(_ row: SplitRow, _ reason: String) throws(CatalogueError) {
    guard policy == .skip else {
      throw CatalogueError(
        .badRow, "Row \(row.ordinal): \(reason)", line: row.line)
    }
    let bad = BadRow(ordinal: row.ordinal, line: row.line, reason: reason)
    progress.badRows += 1
    if badRows.count < ImportSummary.maximumBadRows { badRows.append(bad) }
    report(.badRow(bad))
  }

  /// The hotel in a row's text. A row with another `type` than `hotel` is a bad row, so that a complete export of a
  /// travel-sample can be imported with ``BadRowPolicy/skip``, if it is forced. A row must have a name.
  private static func read(_ text: [UInt8]) -> Result<(Hotel, HotelText), DocumentError> {
    do {
      let root: JSONNode
      do { root = try ParsedJSON(text, limits: limits).root } catch { throw DocumentError(error) }
      let hotel = try Hotel(root, from: .upstream)
      if let type = root["type"], !type.isNull, !type.stringEquals("hotel") {
        throw DocumentError(.invalidDocument, "The row's type is not hotel.")
      }
      let words = HotelText(root)
      guard words.name.utf8.contains(where: { $0 > 0x20 }) else {
        throw DocumentError(.invalidDocument, "The row has no name.")
      }
      return .success((hotel, words))
    } catch let error as DocumentError {
      return .failure(error)
    } catch {
      return .failure(DocumentError(.invalidDocument, "The row can't be read."))
    }
  }
}
