import SQLite

/// The tables of a catalogue's file.
///
/// - `hotel`: one row for each hotel. `seq` is the order of the catalogue, `body` the hotel's JSON text.
/// - `words`: the index for searches by words, over texts of ``IndexedText``. `place` has the other names of a hotel's
///   place. Prefixes of up to 3 letters are indexed.
/// - `phrases`: the index for searches by phrase, over texts that ``PhraseWords`` has split into words.
/// - `sorting`: one row for each hotel with the values for sorting: its name as ``SortName``, its price, and its
///   position as ``GeoPoint/vector``.
/// - `place`: the countries, states and cities of the hotels, and how many hotels each has; see ``PlaceTable``.
/// - `place_name`: the names of each place.
/// - `vocabulary`: the words of `words`, and how many hotels have each; see ``Vocabulary``.
/// - `origin`: one row with the catalogue's origin.
/// - `texts`: one row with the edition of the indexed names and values.
///
/// The tokenizer `ascii` splits texts only at spaces, because every other byte of a word is a token character.
/// Both indexes are contentless, because `hotel` contains the texts.
/// <https://sqlite.org/fts5.html#contentless_tables>
enum CatalogueSchema {
  /// The edition of the tables and of the splitting into words, stored in the header as `user_version`.
  static let version: Int32 = 4
  /// The edition of the names and values that are indexed: of sights, places, abbreviations, prices and phones. A catalogue
  /// with an earlier one or none lacks some, and is made again from its hotels; see ``CatalogueRebuild``.
  static let texts = 5

  /// Creates the tables in a new database.
  static func create(in connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE hotel (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name BLOB NOT NULL, body BLOB NOT NULL
      ) STRICT;
      CREATE TABLE sorting (
        seq INTEGER PRIMARY KEY, name BLOB NOT NULL, price REAL, x REAL, y REAL, z REAL
      ) STRICT;
      CREATE TABLE vocabulary (
        term TEXT PRIMARY KEY, hotels INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE place (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
        state TEXT NOT NULL, country TEXT NOT NULL, hotels INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE place_name (
        name TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (name, place)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE origin (
        name TEXT NOT NULL, rows INTEGER NOT NULL, date INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE texts (edition INTEGER NOT NULL) STRICT;
      CREATE VIRTUAL TABLE words USING fts5(
        name, title, description, amenities, address, city, state, country, place,
        content='', prefix='1 2 3', tokenize='ascii');
      CREATE VIRTUAL TABLE phrases USING fts5(
        name, description, address, city, state, country,
        content='', columnsize=0, tokenize='ascii tokenchars ''_.:,;''''''');
      """)
    try connection.statement("INSERT INTO texts (edition) VALUES (?1)").run(.integer(texts))
    try connection.setUserVersion(version)
  }

  /// Whether a catalogue has the names and values of this version.
  static func hasTexts(_ connection: Connection) throws -> Bool {
    let table = try connection.statement("SELECT 1 FROM sqlite_schema WHERE name = 'texts'")
      .first { row in row.int64(0) }
    guard table != nil else { return false }
    let edition = try connection.statement("SELECT edition FROM texts").first { row in
      row.int64(0)
    }
    return (edition ?? 0) >= Int64(texts)
  }

  /// Creates the indexes of hotels by name and by price. Sorting once is faster than updating an index with each row.
  static func createIndexes(in connection: Connection) throws {
    try connection.execute(
      """
      CREATE INDEX hotel_name ON hotel (name, id);
      CREATE INDEX hotel_price ON sorting (price);
      """)
  }
}
