import Documents
import Hotels
import JSON
import SQLite

/// Writes a new catalogue's file: one transaction from the first hotel to the last.
///
/// Nobody else reads the file before it is published, and a killed import's file is thrown away, so
/// nothing is synchronised on the way and the rollback journal, which stays empty in a file that was
/// empty before, is kept in memory. Not `Sendable`; confined to the import that made it.
final class CatalogueWriter {
  /// How much of the file is kept in memory, in KiB, however large it grows.
  static let cacheSize: Int32 = 16 * 1024

  private let connection: Connection

  /// Starts the file at `path`, where none may be.
  init(path: String) throws {
    connection = try Connection(path: path, mode: .readWriteCreate)
    try connection.execute(
      "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE")
    try connection.setCacheSize(kibibytes: Self.cacheSize)
    try connection.begin()
    try CatalogueSchema.create(in: connection)
  }

  /// Starts a catalogue in memory, for one search; see ``ScratchCatalogue``.
  init(in connection: Connection) throws {
    self.connection = connection
    try connection.addRelevance()
    try connection.begin()
    try CatalogueSchema.create(in: connection)
  }

  /// Ends a catalogue in memory, which may be searched now.
  func finishScratch() throws -> Connection {
    try Vocabulary.write(in: connection)
    try connection.commit()
    return connection
  }

  /// Adds a hotel. One whose id is there already takes the earlier one's place in the order.
  /// - Returns: whether an earlier one had the id.
  func put(_ hotel: Hotel, _ text: HotelText) throws -> Bool {
    let added = try connection.statement(
      """
      INSERT INTO hotel (id, name, body) VALUES (?1, ?2, ?3)
      ON CONFLICT (id) DO NOTHING RETURNING seq
      """
    ).first(.text(hotel.id.text), .text(text.name), .bytes(hotel.body.bytes)) {
      row in row.int64(0)
    }
    if let added {
      try index(text, as: added)
      try text.keys.write(as: added, named: text.name, in: connection)
      return false
    }
    try replace(hotel, text)
    return true
  }

  /// Ends the file: what is left is to synchronise and to publish it.
  func finish(_ origin: CatalogueOrigin) throws {
    try connection.statement("INSERT INTO origin (name, rows, date) VALUES (?1, ?2, ?3)").run(
      .text(origin.name), .integer(origin.rows), .integer(origin.date.milliseconds))
    try connection.setApplicationID(origin.kind.applicationID)
    // One sorted list of rows a word instead of several makes each search read less.
    try connection.execute(
      """
      INSERT INTO words (words) VALUES ('optimize');
      INSERT INTO phrases (phrases) VALUES ('optimize');
      """)
    try Vocabulary.write(in: connection)
    try CatalogueSchema.createNameIndex(in: connection)
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
    try unindex(HotelText(body.root), as: old.seq)
    try connection.statement("UPDATE hotel SET name = ?1, body = ?2 WHERE seq = ?3").run(
      .text(text.name), .bytes(hotel.body.bytes), .integer(old.seq))
    try index(text, as: old.seq)
    try text.keys.write(as: old.seq, named: text.name, in: connection)
  }

  private func index(_ text: HotelText, as seq: Int64) throws {
    try connection.statement(
      """
      INSERT INTO words
        (rowid, name, title, description, amenities, address, city, state, country)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """
    ).run(
      .integer(seq), .text(text.name), .text(text.title), .text(text.description),
      .text(text.amenities), .text(text.address), .text(text.city), .text(text.state),
      .text(text.country))
    try connection.statement(
      """
      INSERT INTO phrases (rowid, name, description, address, city, state, country)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    ).run(
      .integer(seq), Self.phrase(text.name), Self.phrase(text.description),
      Self.phrase(text.address), Self.phrase(text.city), Self.phrase(text.state),
      Self.phrase(text.country))
  }

  /// Takes a hotel out of the indexes, which have to be told what it said.
  /// <https://sqlite.org/fts5.html#the_delete_command>
  private func unindex(_ text: HotelText, as seq: Int64) throws {
    try connection.statement(
      """
      INSERT INTO words
        (words, rowid, name, title, description, amenities, address, city, state, country)
      VALUES ('delete', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """
    ).run(
      .integer(seq), .text(text.name), .text(text.title), .text(text.description),
      .text(text.amenities), .text(text.address), .text(text.city), .text(text.state),
      .text(text.country))
    try connection.statement(
      """
      INSERT INTO phrases (phrases, rowid, name, description, address, city, state, country)
      VALUES ('delete', ?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    ).run(
      .integer(seq), Self.phrase(text.name), Self.phrase(text.description),
      Self.phrase(text.address), Self.phrase(text.city), Self.phrase(text.state),
      Self.phrase(text.country))
  }

  private static func phrase(_ text: String) -> Binding { .text(PhraseWords.indexed(text)) }
}
