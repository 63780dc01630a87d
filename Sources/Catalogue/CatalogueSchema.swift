import SQLite

/// The tables of a catalogue's file.
///
/// - `hotel`: one row for each hotel. `seq` is the order of the catalogue, `body` the hotel's JSON text.
/// - `words`: the index for searches by words. Accents and case are folded; prefixes of up to 3 letters are
///   indexed.
/// - `phrases`: the index for searches by phrase, over texts that ``PhraseWords`` has split into words. The
///   tokenizer `ascii` splits them only at spaces, because every other byte of a word is a token character.
/// - `sorting`: one row for each hotel with the values for sorting: its name, its price, and its position as
///   ``GeoPoint/vector``.
/// - `vocabulary`: the words of `words`, and how many hotels have each; see ``Vocabulary``.
/// - `origin`: one row with the catalogue's origin.
///
/// Both indexes are contentless, because `hotel` contains the texts.
/// <https://sqlite.org/fts5.html#contentless_tables>
enum CatalogueSchema {
  /// The edition of the tables and of the splitting into words, stored in the header as `user_version`.
  static let version: Int32 = 2

  /// Creates the tables in a new database.
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

  /// Creates the index of hotels by name. Sorting once is faster than updating the index with each row.
  static func createNameIndex(in connection: Connection) throws {
    try connection.execute("CREATE INDEX hotel_name ON hotel (name COLLATE NOCASE, id)")
  }
}
