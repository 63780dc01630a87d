import Hotels
import SQLite

/// What a search says about a price orders its hotels (``PriceWish``).
extension CatalogueSearch {
  /// The hotels that match an expression: those that cost what a search says come first, then those whose price is not known
  /// or less; for "cheap" the cheapest. The parameters are those of `words(_:leading:without:isOnly:limit:offset:)`.
  func wished(
    _ wish: PriceWish, _ expression: String, leading phrases: Int, without known: [Int64],
    isOnly: Bool, _ limit: Int, _ offset: Int
  ) throws -> [OpenCatalogue.HotelRow] {
    try connection.statement(
      """
      SELECT hotel.id, hotel.body FROM (
        SELECT matching.seq AS seq, score,
          CASE WHEN ?10 IS NULL THEN ifnull(price, 9e15) WHEN price BETWEEN ?9 AND ?10 THEN 0
          WHEN price > ?10 THEN 1 + price ELSE 1 END AS wished
        FROM (
          SELECT rowid AS seq, relevance(words, ?7, 10, 4, 1, 3, 1, 4, 2, 1, ?8) AS score
          FROM words
          WHERE words MATCH ?1 AND (rowid IN (SELECT value FROM json_each(?4))) = ?6
          ORDER BY rowid LIMIT ?5
        ) AS matching CROSS JOIN sorting ON sorting.seq = matching.seq
        ORDER BY wished, score, matching.seq LIMIT ?2 OFFSET ?3
      ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
      ORDER BY found.wished, found.score, found.seq
      """
    ).all(
      .text(expression), .integer(limit), .integer(offset), Self.list(known),
      .integer(Self.mostOrdered), .integer(isOnly ? 1 : 0), .integer(phrases), .real(placeWeight),
      .real(wish.least), wish.most.map { .real($0) } ?? .null, row: OpenCatalogue.HotelRow.init)
  }

  /// The hotels that cost what a search says, if it says nothing else; the cheapest come first. Nil if there are none, or for
  /// "cheap".
  /// - Parameter excluded: an expression for hotels that are left out.
  func priced(without excluded: String) throws -> Found? {
    guard let wish, let most = wish.most else { return nil }
    let total = try connection.statement(
      """
      SELECT count(*) FROM sorting WHERE price BETWEEN ?1 AND ?2
        AND (?3 = '' OR seq NOT IN (SELECT rowid FROM words WHERE words MATCH ?3))
      """
    ).first(.real(wish.least), .real(most), .text(excluded)) { row in Int(clamping: row.int64(0)) }
    guard let total, total > 0 else { return nil }
    let rows = try connection.statement(
      """
      SELECT hotel.id, hotel.body FROM (
        SELECT seq, CASE ?6 WHEN 'distance' THEN -(x * ?7 + y * ?8 + z * ?9)
          WHEN 'name' THEN name ELSE price END AS sort_key
        FROM (
          SELECT * FROM sorting WHERE price BETWEEN ?3 AND ?4
            AND (?5 = '' OR seq NOT IN (SELECT rowid FROM words WHERE words MATCH ?5))
          ORDER BY price, seq LIMIT ?10
        )
        ORDER BY sort_key IS NULL, sort_key, seq LIMIT ?1 OFFSET ?2
      ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
      ORDER BY found.sort_key IS NULL, found.sort_key, found.seq
      """
    ).all(
      .integer(query.limit + 1), .integer(query.offset), .real(wish.least), .real(most),
      .text(excluded), .text(query.order.rawValue), .real(from.x), .real(from.y), .real(from.z),
      .integer(Self.mostOrdered), row: OpenCatalogue.HotelRow.init)
    return Found(rows: rows, total: total)
  }
}
