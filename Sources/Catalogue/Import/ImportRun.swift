import Documents
import Hotels

/// One import, from its first byte until the new catalogue replaces the old one. All calls block. Not `Sendable`.
final class ImportRun {
  private let files: CatalogueFiles
  /// Nil at the end.
  private var lock: ImportLock?
  private let writer: CatalogueWriter
  private let origin: (kind: CatalogueOrigin.Kind, name: String, date: Timestamp)
  private let policy: BadRowPolicy
  private let replacement: Replacement
  private let report: (ImportEvent) -> Void
  private var source: ImportSource
  private var progress = ImportProgress()
  private var found = ImportReport()
  private var badRows: [BadRow] = []
  /// The id that the row before says; see ``HotelRow/action(id:)``.
  private var action: String?
  private var lists = ListRows()
  /// What stands beside hotels in a page, until one of its hotels is seen.
  private var besides:
    [(type: String, hotel: Hotel, text: HotelText, columns: [HotelForm.Column])] = []
  /// Whether there is a hotel by schema.org's type or Django's model.
  private var hasTypedHotel = false
  /// The most rows that wait for a hotel. More are a list of things that are meant.
  private static let mostBesides = 1_000

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
    source = ImportSource(spool: files.spool)
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
    try source.append(chunk)
    while let row = try source.next() { try take(row) }
    progress.bytes += chunk.count
    report(.progress(progress))
  }

  /// Ends the import and replaces the old catalogue by the new one, unless this is a dry run.
  /// - Throws: `malformed`, `truncated`, `empty`, `doubtful`, `storageFull`, `unavailable`. The caller must then call
  ///   ``abandon()``.
  func finish() throws(CatalogueError) -> ImportSummary {
    try source.end()
    while let row = try source.next() { try take(row) }
    if let row = try source.finish() { try take(row) }
    try takeBesides()
    let hotels = progress.rows - progress.replaced
    let check = ImportCheck(
      progress: progress, found: found, hotels: hotels, isOneObject: source.isOneObject)
    switch replacement {
    case .rebuilt: try check.requireHotels()
    case .imported(let isForced), .tried(let isForced):
      if !isForced { try check.requireUTF8() }
      try check.requireHotels()
      if !isForced {
        // A former catalogue that can't be read is no measure.
        try check.requireLikely(after: try? OpenCatalogue.origin(ofFile: files.database))
      }
    }
    if case .tried = replacement {
      abandon()
    } else {
      try publish(hotels)
    }
    return ImportSummary(
      hotels: hotels, progress: progress, badRows: badRows, found: found,
      hasFormer: files.hasFormer)
  }

  private func publish(_ hotels: Int) throws(CatalogueError) {
    let origin = CatalogueOrigin(
      kind: origin.kind, name: origin.name, rows: hotels, date: origin.date)
    try CatalogueError.translating { try writer.finish(origin) }
    if case .imported = replacement { try files.keepFormer() }
    try files.publishDraft()
    lock = nil
  }

  /// Removes the draft.
  func abandon() {
    files.removeDraft()
    lock = nil
  }

  private func take(_ row: SplitRow) throws(CatalogueError) {
    switch row.content {
    case .text(let text): try take(text, row)
    case .inner(let text):
      let read = HotelRow(text, isKeyed: false, in: row.place.object, on: source.reference)
      try take(read, text, row)
    case .member(let text): try take(HotelRow(text, isKeyed: true), row)
    case .other(let kind): try take(.other(kind), row)
    case .tooLong:
      try refuse(row, RowFault("The row has more than \(RowSplitter.maximumRowBytes) bytes."))
    case .broken(let reason): try refuse(row, RowFault(reason))
    }
  }

  private func take(_ text: [UInt8], _ row: SplitRow) throws(CatalogueError) {
    var text = text
    do {
      switch try lists.read(text) {
      case .nothing: return
      case .object(let object): text = object
      case nil: break
      }
    } catch { return try refuse(row, error) }
    let read = HotelRow(
      text, isKeyed: false, action: action, in: row.place.object, on: source.reference)
    action = nil
    try take(read, text, row)
  }

  /// Takes a row, or the rows in it: a page of an answer, or the hotels of a chain.
  private func take(_ read: HotelRow, _ text: [UInt8], _ row: SplitRow) throws(CatalogueError) {
    let isInner = if case .inner = row.content { true } else { false }
    guard read.mayHaveRows, let inner = NestedRows(text, isInner: isInner),
      inner.areHotels || read.isFault || inner.areListed && read.isTitle
    else { return try take(read, row) }
    for row in inner.rows(of: row) { try take(row) }
  }

  private func take(_ hotel: HotelRow, _ row: SplitRow) throws(CatalogueError) {
    switch hotel {
    case .hotel(let hotel, let text, let columns):
      if !hasTypedHotel {
        hasTypedHotel = columns.contains { $0.name == "@type" || $0.name == "model" }
      }
      try put(hotel, text, columns)
    case .besideHotels(let type, let hotel, let text, let columns):
      besides.append((type, hotel, text, columns))
      if hasTypedHotel || besides.count > Self.mostBesides { try takeBesides() }
    case .nothing: break
    case .action(let id):
      action = id
      progress.otherRows += 1
      found.add(other: "bulk action")
    case .other(let kind):
      progress.otherRows += 1
      found.add(other: kind)
    case .fault(let fault): try refuse(row, fault)
    }
  }

  private func put(
    _ hotel: Hotel, _ text: HotelText, _ columns: [HotelForm.Column]
  ) throws(CatalogueError) {
    let replaced = try CatalogueError.translating { try writer.put(hotel, text) }
    progress.rows += 1
    if replaced { progress.replaced += 1 }
    found.add(columns, of: text, isReplaced: replaced)
    found.add(hotel: hotel.body.bytes)
  }

  /// Leaves out what stands beside hotels. If there are no hotels, it takes all as such.
  private func takeBesides() throws(CatalogueError) {
    for row in besides {
      if hasTypedHotel {
        progress.otherRows += 1
        found.add(other: row.type)
      } else {
        try put(row.hotel, row.text, row.columns)
      }
    }
    besides = []
  }

  private func refuse(_ row: SplitRow, _ fault: RowFault) throws(CatalogueError) {
    guard policy == .skip else {
      throw CatalogueError(.badRow, "Row \(row.ordinal): \(fault.reason)", line: row.line)
    }
    let bad = BadRow(ordinal: row.ordinal, line: row.line, reason: fault.reason)
    progress.badRows += 1
    found.add(fault, bad)
    if badRows.count < ImportSummary.maximumBadRows { badRows.append(bad) }
    report(.badRow(bad))
  }
}
