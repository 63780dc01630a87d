import Hotels
import SQLite

/// The tables of a catalogue's file.
///
/// - `hotel`: a row a hotel. `seq` is the order of the catalogue, `body` the hotel's JSON text.
/// - `words`: the index of searches by words; accents and case folded, prefixes of up to 3 letters kept.
/// - `phrases`: the index of searches by phrase, over texts that ``PhraseWords`` has taken apart. The
///   tokenizer `ascii` cuts those at the spaces only, as every other byte of a word is a token's.
/// - `sorting`: a row a hotel, of what orders go by: its name, its price, and its place as ``GeoPoint/vector``.
/// - `vocabulary`: the words of `words`, and how many hotels have each; see ``Vocabulary``.
/// - `origin`: one row that says where the catalogue came from.
///
/// Both indexes are contentless, as `hotel` has the texts.
/// <https://sqlite.org/fts5.html#contentless_tables>
enum CatalogueSchema {
  /// The edition of the tables and of how texts are taken apart; in the header as `user_version`.
  static let version: Int32 = 2

  /// Makes the tables in a new database.
  static func create(in connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE hotel (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, body BLOB NOT NULL
      ) STRICT;
      CREATE TABLE sorting (
        seq INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, x REAL, y REAL, z REAL
      ) STRICT;
      CREATE TABLE vocabulary (
        term TEXT PRIMARY KEY, hotels INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE origin (
        name TEXT NOT NULL, rows INTEGER NOT NULL, date INTEGER NOT NULL
      ) STRICT;
      CREATE VIRTUAL TABLE words USING fts5(
        name, title, description, amenities, address, city, state, country,
        content='', prefix='1 2 3', tokenize='unicode61 remove_diacritics 2');
      CREATE VIRTUAL TABLE phrases USING fts5(
        name, description, address, city, state, country,
        content='', columnsize=0, tokenize='ascii tokenchars ''_.:,;''''''');
      """)
    try connection.setUserVersion(version)
  }

  /// Makes the index for hotels by name. Sorting once is faster than keeping order row by row.
  static func createNameIndex(in connection: Connection) throws {
    try connection.execute("CREATE INDEX hotel_name ON hotel (name COLLATE NOCASE, id)")
  }
}

/// Makes an imported catalogue of the first edition anew from its own rows, so that nobody has to import it again.
enum CatalogueUpgrade {
  /// The edition that can be upgraded.
  private static let former: Int32 = 1
  /// How many rows are in memory at once.
  private static let rowsAtOnce = 256

  /// Upgrades the catalogue if it is of that edition. Blocks for as long as the import took.
  /// - Returns: whether there is a new one now.
  /// - Throws: `busy`, `storageFull`, `unavailable`, `damaged`; the old one then still stands.
  static func run(_ files: CatalogueFiles) throws(CatalogueError) -> Bool {
    guard let old = try? Connection(path: files.database, mode: .readOnly),
      (try? old.userVersion()) == former, files.kindInHeader() == .imported
    else { return false }
    guard let origin = try OpenCatalogue.storedOrigin(.imported, in: old) else { return false }
    let run = try ImportRun(
      into: files, kind: .imported, name: origin.name, date: origin.date, onBadRow: .refuse,
      report: { _ in })
    do throws(CatalogueError) {
      try copyRows(of: old, into: run)
      _ = try run.finish()
    } catch {
      run.abandon()
      throw error
    }
    return true
  }

  private static func copyRows(
    of old: Connection, into run: ImportRun
  ) throws(CatalogueError) {
    var last: Int64 = -1
    while true {
      let rows = try CatalogueError.translating {
        try old.statement(
          "SELECT seq, body FROM hotel WHERE seq > ?1 ORDER BY seq LIMIT ?2"
        ).all(.integer(Int(last)), .integer(rowsAtOnce)) { row in
          (seq: row.int64(0), body: row.bytes(1))
        }
      }
      guard let end = rows.last?.seq else { return }
      for row in rows { try run.take(row.body + [0x0A]) }
      last = end
    }
  }
}
