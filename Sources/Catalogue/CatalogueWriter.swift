import Documents
import Hotels
import SQLite

/// Writes a new catalogue's file in one transaction.
///
/// No one reads the file before it is published, and the file of an aborted import is deleted. So nothing is
/// synchronised during the import. The rollback journal is kept in memory; it stays empty because the file was
/// empty before. Not `Sendable`; confined to the import that made it.
final class CatalogueWriter {
  /// The size of SQLite's page cache, in KiB, whatever the size of the file.
  static let cacheSize: Int32 = 16 * 1024

  private let connection: Connection

  /// Starts a new file at `path`. No file may exist there.
  init(path: String) throws {
    connection = try Connection(path: path, mode: .readWriteCreate)
    try connection.execute(
      "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE")
    try connection.setCacheSize(kibibytes: Self.cacheSize)
    try connection.begin()
    try CatalogueSchema.create(in: connection)
  }

  /// Starts a catalogue in memory for one search; see ``ScratchCatalogue``.
  init(in connection: Connection) throws {
    self.connection = connection
    try connection.addRelevance()
    try connection.begin()
    try CatalogueSchema.create(in: connection)
  }

  /// Completes a catalogue in memory. It can be searched afterwards.
  func finishScratch() throws -> Connection {
    try Vocabulary.write(in: connection)
    try connection.commit()
    return connection
  }

  /// Adds a hotel. A hotel with the id of an earlier one replaces it and takes its place in the order.
  /// - Returns: whether it replaced an earlier one.
  func put(_ hotel: Hotel, _ text: HotelText) throws -> Bool {
    let added = try connection.statement(
      """
      INSERT INTO hotel (id, name, body) VALUES (?1, ?2, ?3)
      ON CONFLICT (id) DO NOTHING RETURNING seq
      """
    ).first(.text(hotel.id.text), .bytes(text.keys.name), .bytes(hotel.body.bytes)) {
      row in row.int64(0)
    }
    if let added {
      try index(text, as: added)
      try text.keys.write(as: added, in: connection)
      try PlaceTable.count(text, by: 1, in: connection)
      return false
    }
    try replace(hotel, text)
    return true
  }

  /// Completes the file. The caller must still synchronise and publish it.
  func finish(_ origin: CatalogueOrigin) throws {
    try connection.statement("INSERT INTO origin (name, rows, date) VALUES (?1, ?2, ?3)").run(
      .text(origin.name), .integer(origin.rows), .integer(origin.date.milliseconds))
    try connection.setApplicationID(origin.kind.applicationID)
    // Merging each word's sorted lists of rows into one makes searches read less.
    try connection.execute(
      """
      INSERT INTO words (words) VALUES ('optimize');
      INSERT INTO phrases (phrases) VALUES ('optimize');
      """)
    try Vocabulary.write(in: connection)
    try PlaceTable.writeNames(in: connection)
    try CatalogueSchema.createIndexes(in: connection)
    try connection.commit()
    try connection.close()
  }

  private func replace(_ hotel: Hotel, _ text: HotelText) throws {
    let old = try connection.statement("SELECT seq, body FROM hotel WHERE id = ?1").first(
      .text(hotel.id.text)
    ) { row in (seq: row.int64(0), body: row.bytes(1)) }
    guard let old, let body = try? ParsedJSON(old.body, limits: .document) else {
      throw SQLiteError(.corrupt, message: "a hotel that was just written can't be read")
    }
    let former = HotelText(body.root)
    try index(former, as: old.seq, isFormer: true)
    try PlaceTable.count(former, by: -1, in: connection)
    try connection.statement("UPDATE hotel SET name = ?1, body = ?2 WHERE seq = ?3").run(
      .bytes(text.keys.name), .bytes(hotel.body.bytes), .integer(old.seq))
    try index(text, as: old.seq)
    try text.keys.write(as: old.seq, in: connection)
    try PlaceTable.count(text, by: 1, in: connection)
  }

  /// Adds a hotel to the indexes, or removes it, for which they need its former text.
  /// <https://sqlite.org/fts5.html#the_delete_command>
  private func index(_ text: HotelText, as seq: Int64, isFormer: Bool = false) throws {
    let command = isFormer ? Binding.text("delete") : .null
    try connection.statement(
      """
      INSERT INTO words
        (words, rowid, name, title, description, amenities, address, city, state, country, place)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
      """
    ).run(
      command, .integer(seq), Self.name(text.name), Self.words(text.title),
      Self.words(text.description), Self.offers(text), Self.place(text.address),
      Self.place(text.city), Self.place(text.state), Self.place(text.country), Self.names(text))
    try connection.statement(
      """
      INSERT INTO phrases (phrases, rowid, name, description, address, city, state, country)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """
    ).run(
      command, .integer(seq), Self.phrase(text.name), Self.phrase(text.description),
      Self.phrase(text.address), Self.phrase(text.city), Self.phrase(text.state),
      Self.phrase(text.country))
  }

  private static func phrase(_ text: String) -> Binding { .text(PhraseWords.indexed(text)) }

  private static func name(_ text: String) -> Binding {
    .text(IndexedText.text(text) + " " + IndexedText.ofName + PlaceNames.key(text))
  }

  private static func words(_ text: String) -> Binding { .text(IndexedText.text(text)) }

  private static func place(_ text: String) -> Binding {
    .text(IndexedText.text(text, isOfPlace: true))
  }

  private static func offers(_ text: HotelText) -> Binding {
    .text(([IndexedText.text(text.amenities)] + text.contacts).joined(separator: " "))
  }

  private static func names(_ text: HotelText) -> Binding {
    .text(IndexedText.names(PlaceNames.all.names(of: text)))
  }
}
