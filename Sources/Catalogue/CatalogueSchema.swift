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
  static func create(in connection: Connection) throws(SQLiteError) {
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
  static func createNameIndex(in connection: Connection) throws(SQLiteError) {
    try connection.execute("CREATE INDEX hotel_name ON hotel (name COLLATE NOCASE, id)")
  }
}
