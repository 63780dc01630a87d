import CEmbedded
import Documents
import Hotels
import SQLite

/// One connection to the catalogue. When another file replaces the catalogue, the reader opens it within
/// ``lookInterval``. Its calls block.
struct CatalogueReader {
  /// The time between two checks for a new file.
  static let lookInterval = Duration.seconds(1)

  private let files: CatalogueFiles
  private let now: @Sendable () -> ContinuousClock.Instant
  private let recent: RecentSearches
  private var catalogue: OpenCatalogue?
  private var looked: ContinuousClock.Instant?

  /// Makes a reader that has not opened the file yet.
  /// - Parameter recent: the pages that readers of the same catalogue have found.
  init(
    _ files: CatalogueFiles, recent: RecentSearches,
    now: @escaping @Sendable () -> ContinuousClock.Instant
  ) {
    self.files = files
    self.recent = recent
    self.now = now
  }

  /// Opens the catalogue; see ``HotelCatalogue/prepare(at:)``.
  mutating func prepare(at date: Timestamp) throws(CatalogueError) -> CatalogueOrigin {
    do {
      let opened = try OpenCatalogue(files)
      if try isCurrent(opened) {
        catalogue = opened
        guard opened.origin.kind == .imported, try CatalogueRebuild.isNeeded(for: opened) else {
          return opened.origin
        }
        do { try CatalogueRebuild.run(opened, in: files) } catch {
          // It works as it is.
          return opened.origin
        }
        return try reload()
      }
    } catch {
      // An absent file is created. A damaged or outdated one is replaced only if it contains the program's own
      // hotels; any other file is an operator's.
      let isAbsent = FileIdentity(path: files.database) == nil
      guard isAbsent || files.kindInHeader() == .embedded else { throw error }
    }
    try EmbeddedHotels.install(in: files, at: date)
    return try reload()
  }

  /// Opens the present file and returns its origin.
  /// - Throws: `unavailable`, `damaged`. The open file stays open then.
  @discardableResult
  mutating func reload() throws(CatalogueError) -> CatalogueOrigin {
    let opened = try OpenCatalogue(files)
    catalogue = opened
    looked = now()
    return opened.origin
  }

  /// Closes the file. The next search opens it again.
  mutating func close() { (catalogue, looked) = (nil, nil) }

  /// The hotels that match.
  /// - Parameter limit: the time limit.
  /// - Parameter flag: set when the caller no longer waits.
  mutating func search(
    _ query: HotelQuery, within limit: Duration, or flag: InterruptionFlag
  ) throws(SearchError) -> HotelPage {
    let catalogue = try current()
    if let page = recent.page(for: query, in: catalogue.identity) { return page }
    return try page(
      of: try find(query, in: catalogue, within: limit, or: flag), for: query, in: catalogue)
  }

  /// The page that a search has found before in the present file, as of a check within ``lookInterval``. It reads no
  /// file.
  func knownPage(for query: HotelQuery) -> HotelPage? {
    guard let catalogue, let looked, now() - looked < Self.lookInterval else { return nil }
    return recent.page(for: query, in: catalogue.identity)
  }

  private mutating func find(
    _ query: HotelQuery, in catalogue: OpenCatalogue, within limit: Duration,
    or flag: InterruptionFlag
  ) throws(SearchError) -> CatalogueSearch.Found {
    let end = ContinuousClock.now + limit
    return try reading {
      try catalogue.connection.bounded(until: end, or: flag) { try catalogue.search(query) }
    }
  }

  private func page(
    of found: CatalogueSearch.Found, for query: HotelQuery, in catalogue: OpenCatalogue
  ) throws(SearchError) -> HotelPage {
    let following = query.offset + query.limit
    let hasMore = found.rows.count > query.limit && following <= HotelQuery.maximumOffset
    var hotels: [Hotel] = []
    for row in found.rows.prefix(query.limit) { hotels.append(try Self.hotel(of: row)) }
    let page = HotelPage(
      hotels: hotels, next: hasMore ? following : nil, total: found.total,
      hasMostOnly: found.hasMostOnly)
    recent.keep(page, for: query, in: catalogue.identity)
    return page
  }

  /// The places with a name that begins so; see ``PlaceTable``.
  mutating func places(
    beginning prefix: String, limit: Int, within time: Duration, or flag: InterruptionFlag
  ) throws(SearchError) -> PlacePage {
    let connection = try current().connection
    let end = ContinuousClock.now + time
    return try reading {
      try connection.bounded(until: end, or: flag) {
        PlacePage(
          places: try PlaceTable.places(beginning: prefix, limit: limit, in: connection),
          orders: try PlaceTable.orders(in: connection))
      }
    }
  }

  /// The hotel with an id in its canonical spelling.
  mutating func hotel(_ id: String) throws(SearchError) -> Hotel? {
    let catalogue = try current()
    guard let row = try reading({ try catalogue.row(id) }) else { return nil }
    // The hotel may be stored next, and then its digest is needed more than once.
    guard let id = HotelID(row.id), let body = try? DocumentBody(parsing: row.body) else {
      throw Self.damagedRow
    }
    return Hotel(id: id, body: body)
  }

  /// Throws unless the present file can be searched within the limit.
  mutating func checkReady(within limit: Duration) throws(SearchError) {
    do {
      if FileIdentity(path: files.database) != catalogue?.identity { try reload() }
    } catch { throw SearchError(.unavailable, error.reason, detail: error.debugDescription) }
    for row in try find(
      HotelQuery(limit: 1), in: try current(), within: limit, or: InterruptionFlag()
    ).rows { _ = try Self.hotel(of: row) }
  }

  /// Whether a catalogue can be used as it is. An imported one always can: checking a large file completely would
  /// delay the start.
  private func isCurrent(_ opened: OpenCatalogue) throws(CatalogueError) -> Bool {
    guard opened.origin.kind == .embedded else { return true }
    guard opened.origin.name.equalsBytes(of: EmbeddedHotels.digest) else { return false }
    return try CatalogueError.translating {
      try CatalogueSchema.hasTexts(opened.connection) && opened.isSound()
    }
  }

  /// The catalogue to search: the present file, as of the last check.
  private mutating func current() throws(SearchError) -> OpenCatalogue {
    if let catalogue, let looked, now() - looked < Self.lookInterval { return catalogue }
    do {
      if let catalogue, FileIdentity(path: files.database) == catalogue.identity {
        looked = now()
        return catalogue
      }
      try reload()
    } catch {
      // The old catalogue is intact and still open, which is better than no answer. The readiness check reports the
      // error.
      looked = now()
      guard catalogue == nil else { return try requireCatalogue() }
      throw SearchError(.unavailable, error.reason, detail: error.debugDescription)
    }
    return try requireCatalogue()
  }

  private func requireCatalogue() throws(SearchError) -> OpenCatalogue {
    guard let catalogue else { throw SearchError(.unavailable, "There is no hotel catalogue yet.") }
    return catalogue
  }

  private mutating func reading<Result>(_ body: () throws -> Result) throws(SearchError) -> Result {
    do {
      return try body()
    } catch let error as SQLiteError where error.code == .interrupted {
      throw SearchError.interrupted
    } catch {
      // After an error the file is opened again, because it may have been replaced by a good one.
      close()
      let error = CatalogueError(error)
      throw SearchError(.unavailable, error.reason, detail: error.debugDescription)
    }
  }

  /// A hotel for an answer. Only its bytes are used.
  private static func hotel(of row: OpenCatalogue.HotelRow) throws(SearchError) -> Hotel {
    guard let id = HotelID(row.id), (try? ParsedJSON(row.body, limits: .document)) != nil else {
      throw damagedRow
    }
    return Hotel(id: id, body: DocumentBody(readingBack: row.body))
  }

  private static let damagedRow = SearchError(
    .unavailable, "The hotel catalogue is damaged.", detail: "a hotel's row")
}

/// The hotels that this program contains, one JSON object on each line; see the licence notice beside them.
enum EmbeddedHotels {
  /// The text of the file.
  static var bytes: [UInt8] {
    [UInt8](
      UnsafeBufferPointer(start: cembedded_catalogue_bytes(), count: cembedded_catalogue_count()))
  }

  /// Identifies the edition of the hotels: 64-bit FNV-1a (draft-eastlake-fnv) in hexadecimal. It needs no
  /// cryptographic hash, because the bytes are the program's own.
  static var digest: String {
    let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return Hex.string((0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - $0 * 8)) })
  }

  /// Makes a catalogue of them, which replaces the present one.
  /// - Throws: `busy`, `storageFull`, `unavailable`.
  static func install(in files: CatalogueFiles, at date: Timestamp) throws(CatalogueError) {
    let run = try ImportRun(
      into: files, kind: .embedded, name: digest, date: date, onBadRow: .refuse, report: { _ in })
    do {
      try run.take(bytes)
      _ = try run.finish()
    } catch {
      run.abandon()
      throw error
    }
  }
}
