import Hotels
import SQLite

extension OpenCatalogue {
  /// A hotel as it is stored.
  struct HotelRow: Sendable {
    /// The canonical id.
    let id: String
    /// The hotel's JSON text.
    let body: [UInt8]
  }

  /// The hotels that match, from the query's offset on, at most `limit`.
  ///
  /// By words: best match first, a word in the name counting most; equal ones, and all hotels by name
  /// where the query has no text, in an order that stays the same, so that pages neither repeat nor
  /// miss a hotel. By phrase: in the catalogue's order.
  func search(_ query: HotelQuery, limit: Int) throws(SQLiteError) -> [HotelRow] {
    try Self.rows(matching: query, limit: limit, in: connection)
  }

  /// The ids of the hotels that match, in the order of ``search(_:limit:)``.
  static func ids(
    matching query: HotelQuery, limit: Int, in connection: Connection
  ) throws(SQLiteError) -> [String] {
    try rows(matching: query, limit: limit, in: connection).map(\.id)
  }

  private static func rows(
    matching query: HotelQuery, limit: Int, in connection: Connection
  ) throws(SQLiteError) -> [HotelRow] {
    switch (MatchExpression(query), query.matching) {
    case (.none, _):
      return []
    case (.all, .words):
      return try connection.statement(
        "SELECT id, body FROM hotel ORDER BY name COLLATE NOCASE, id LIMIT ?1 OFFSET ?2"
      ).all(.integer(limit), .integer(query.offset), row: row)
    case (.all, .phrase):
      return try connection.statement(
        "SELECT id, body FROM hotel ORDER BY seq LIMIT ?1 OFFSET ?2"
      ).all(.integer(limit), .integer(query.offset), row: row)
    case (.matching(let expression), .words):
      return try connection.statement(
        """
        SELECT hotel.id, hotel.body FROM (
          SELECT rowid AS seq, bm25(words, 10, 4, 1, 3, 1, 4, 2, 1) AS score
          FROM words WHERE words MATCH ?1 ORDER BY score, seq LIMIT ?2 OFFSET ?3
        ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
        ORDER BY found.score, found.seq
        """
      ).all(.text(expression), .integer(limit), .integer(query.offset), row: row)
    case (.matching(let expression), .phrase):
      return try connection.statement(
        """
        SELECT hotel.id, hotel.body FROM (
          SELECT rowid AS seq FROM phrases WHERE phrases MATCH ?1
          ORDER BY rowid LIMIT ?2 OFFSET ?3
        ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
        ORDER BY found.seq
        """
      ).all(.text(expression), .integer(limit), .integer(query.offset), row: row)
    }
  }

  /// The hotel with a canonical id.
  func row(_ id: String) throws(SQLiteError) -> HotelRow? {
    try connection.statement("SELECT id, body FROM hotel WHERE id = ?1").first(
      .text(id), row: Self.row)
  }

  private static func row(_ row: borrowing Row) throws(SQLiteError) -> HotelRow {
    HotelRow(id: try row.string(0), body: row.bytes(1))
  }
}
