import Hotels
import SQLite

/// One search in the tables of a catalogue; see ``CatalogueSchema``.
struct CatalogueSearch {
  /// The most hotels that a search by words sorts. Of more matches, only the first in the catalogue's order are
  /// considered.
  static let mostOrdered = 20_000
  /// The search looks for corrected words only when fewer hotels than this have the exact words.
  static let enough = 100

  let connection: Connection
  let query: HotelQuery
  /// What the query says about a price, which orders its hotels by relevance.
  private(set) var wish: PriceWish?
  let vocabulary: Vocabulary

  /// Makes a search, but does not run it.
  /// - Parameter known: what earlier searches of the same catalogue have found about words.
  init(
    _ connection: Connection, _ query: HotelQuery, _ known: Vocabulary.Known = Vocabulary.Known()
  ) {
    self.connection = connection
    vocabulary = Vocabulary(connection, known)
    self.query = query
  }

  /// The point from which distances are measured.
  var from: (x: Double, y: Double, z: Double) { query.near?.vector ?? (x: 0, y: 0, z: 0) }

  struct Found: Sendable {
    /// The hotels on the query's page, and one more if there are more.
    var rows: [OpenCatalogue.HotelRow]
    /// How many hotels match in total; nil when counting would take too long.
    var total: Int?
    /// Whether no hotel has all words, so that these have most of them.
    var hasMostOnly = false
  }

  /// Runs the search.
  /// - Parameter all: the number of hotels in the catalogue.
  func find(amongAll all: Int) throws -> Found {
    guard query.matching == .words else {
      switch MatchExpression(query) {
      case .none: return Found(rows: [], total: 0)
      case .all: return Found(rows: try allUnsorted(), total: all)
      case .matching(let expression):
        return Found(
          rows: try phrases(expression),
          total: try unlessInterrupted { try count(inPhrases: expression) })
      }
    }
    let said = [query.description, query.location].compactMap(\.self).flatMap(SpelledQuery.said)
    let (names, wishes) = (said.flatMap(\.names), said.compactMap(\.wish))
    if try !names.isEmpty && vocabulary.count(WordQuery.named(names)) > 0,
      let words = WordQuery(query, keepsPrice: true), !words.isEmpty
    {
      let found = try find(words, keepsPrice: true)
      // A hotel "Cheap Apartments Vienna" does not make a name of "cheap apartments in London".
      let hasAll = found.total != 0 && !found.hasMostOnly
      if hasAll || wishes.contains(where: { $0.most != nil }) { return found }
    }
    guard let words = WordQuery(query, says: !said.isEmpty) else {
      return Found(rows: [], total: 0)
    }
    var search = self
    search.wish = PriceWish(wishes)
    guard words.isEmpty else { return try search.find(words, keepsPrice: false) }
    let excluded = words.excluded
    if let priced = try search.priced(without: excluded) { return priced }
    let others = excluded.isEmpty ? 0 : try vocabulary.count(excluded)
    return Found(
      rows: try search.all(without: excluded), total: all - others,
      hasMostOnly: search.wish?.most != nil)
  }

  private func find(_ words: WordQuery, keepsPrice: Bool) throws -> Found {
    let exact = try words.joinedAndApart(by: vocabulary)
    let expression = exact.expression
    let phrases = exact.leadingPhrases
    var found = Found(
      rows: try self.words(
        expression, leading: phrases, limit: query.limit + 1, offset: query.offset))
    guard let first = try unlessInterrupted({ try first(inWords: expression) }) else {
      return found
    }
    guard first.count < Self.enough else {
      found.total = try unlessInterrupted { try vocabulary.count(expression) }
      return found
    }
    found.total = first.count
    let corrected: WordQuery?
    do { corrected = try exact.corrected(by: vocabulary) } catch let error as SQLiteError
      where error.code == .interrupted && !first.isEmpty
    { return Found(rows: found.rows, total: nil) }
    if let corrected {
      let wider = corrected.expression
      // Those with the exact words come first, unless something else orders all.
      let before = query.order == .relevance && wish == nil ? first : []
      if before.isEmpty { found.rows = [] }
      if found.rows.count <= query.limit {
        found.rows += try self.words(
          wider, leading: phrases, without: before,
          limit: query.limit + 1 - found.rows.count,
          offset: max(0, query.offset - before.count))
      }
      // Hotels with the exact words also match the wider expression.
      found.total = try unlessInterrupted { try vocabulary.count(wider) }
    }
    guard found.total == 0 else { return found }
    let plain =
      words.excluded.isEmpty
      ? nil : WordQuery(query, excludes: false, keepsPrice: keepsPrice)
    // If the time ends here, nobody knows what is found: an empty answer would say that no hotel is.
    return try plain.flatMap { try all($0.expression, leading: $0.leadingPhrases) }
      ?? (corrected ?? exact).withTitles.flatMap { try all($0.expression, leading: phrases) }
      ?? most(of: corrected ?? exact)
  }

  /// The hotels that match an expression; nil if there are none.
  func all(_ expression: String, leading phrases: Int = 1, isMost: Bool = false) throws -> Found? {
    let total = try vocabulary.count(expression)
    guard total > 0 else { return nil }
    let rows = try words(
      expression, leading: phrases, limit: query.limit + 1, offset: query.offset)
    return Found(rows: rows, total: total, hasMostOnly: isMost)
  }

  /// - Returns: nil when the search's time limit was reached first.
  private func unlessInterrupted<Value>(_ query: () throws -> Value) throws -> Value? {
    do { return try query() } catch let error as SQLiteError where error.code == .interrupted {
      return nil
    }
  }
}

/// The SQL statements.
extension CatalogueSearch {
  private func allUnsorted() throws -> [OpenCatalogue.HotelRow] {
    try connection.statement("SELECT id, body FROM hotel ORDER BY seq LIMIT ?1 OFFSET ?2")
      .all(.integer(query.limit + 1), .integer(query.offset), row: OpenCatalogue.HotelRow.init)
  }

  /// - Parameter excluded: an expression for hotels that are left out.
  private func all(without excluded: String) throws -> [OpenCatalogue.HotelRow] {
    if query.order == .name || query.order == .relevance && wish == nil {
      return try connection.statement(
        """
        SELECT id, body FROM hotel
        WHERE ?3 = '' OR seq NOT IN (SELECT rowid FROM words WHERE words MATCH ?3)
        ORDER BY name, id LIMIT ?1 OFFSET ?2
        """
      ).all(
        .integer(query.limit + 1), .integer(query.offset), .text(excluded),
        row: OpenCatalogue.HotelRow.init)
    }
    return try connection.statement(
      """
      SELECT hotel.id, hotel.body FROM (
        SELECT seq,
          CASE WHEN ?3 THEN price ELSE -(x * ?4 + y * ?5 + z * ?6) END AS sort_key
        FROM sorting
        WHERE ?7 = '' OR seq NOT IN (SELECT rowid FROM words WHERE words MATCH ?7)
        ORDER BY sort_key IS NULL, sort_key, seq LIMIT ?1 OFFSET ?2
      ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
      ORDER BY found.sort_key IS NULL, found.sort_key, found.seq
      """
    ).all(
      .integer(query.limit + 1), .integer(query.offset), .integer(query.order == .distance ? 0 : 1),
      .real(from.x), .real(from.y), .real(from.z), .text(excluded),
      row: OpenCatalogue.HotelRow.init)
  }

  /// The hotels that match an expression.
  /// - Parameter phrases: how many phrases at its beginning put a hotel first.
  /// - Parameter known: numbers of hotels in the catalogue's order.
  /// - Parameter isOnly: whether only these may be found, or all but these.
  func words(
    _ expression: String, leading phrases: Int = 1, without known: [Int64] = [],
    isOnly: Bool = false, limit: Int, offset: Int
  ) throws -> [OpenCatalogue.HotelRow] {
    let list = Self.list(known)
    let isIn = Binding.integer(isOnly ? 1 : 0)
    guard query.order != .relevance else {
      if let wish {
        return try wished(
          wish, expression, leading: phrases, without: known, isOnly: isOnly, limit, offset)
      }
      return try connection.statement(
        """
        SELECT hotel.id, hotel.body FROM (
          SELECT seq, score FROM (
            SELECT rowid AS seq, relevance(words, ?7, 10, 4, 1, 3, 1, 4, 2, 1, ?8) AS score
            FROM words
            WHERE words MATCH ?1 AND (rowid IN (SELECT value FROM json_each(?4))) = ?6
            ORDER BY rowid LIMIT ?5
          ) ORDER BY score, seq LIMIT ?2 OFFSET ?3
        ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
        ORDER BY found.score, found.seq
        """
      ).all(
        .text(expression), .integer(limit), .integer(offset), list, .integer(Self.mostOrdered),
        isIn, .integer(phrases), .real(placeWeight), row: OpenCatalogue.HotelRow.init)
    }
    return try connection.statement(
      """
      SELECT hotel.id, hotel.body FROM (
        SELECT sorting.seq AS seq, sorting.name AS name,
          CASE ?6 WHEN 'price' THEN price WHEN 'distance' THEN -(x * ?7 + y * ?8 + z * ?9) ELSE 0
          END AS sort_key
        FROM (
          SELECT rowid AS seq FROM words
          WHERE words MATCH ?1 AND (rowid IN (SELECT value FROM json_each(?4))) = ?10
          ORDER BY rowid LIMIT ?5
        ) AS matching CROSS JOIN sorting ON sorting.seq = matching.seq
        ORDER BY sort_key IS NULL, sort_key, CASE ?6 WHEN 'name' THEN sorting.name END, sorting.seq
        LIMIT ?2 OFFSET ?3
      ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
      ORDER BY found.sort_key IS NULL, found.sort_key,
        CASE ?6 WHEN 'name' THEN found.name END, found.seq
      """
    ).all(
      .text(expression), .integer(limit), .integer(offset), list, .integer(Self.mostOrdered),
      .text(query.order.rawValue), .real(from.x), .real(from.y), .real(from.z), isIn,
      row: OpenCatalogue.HotelRow.init)
  }

  /// The weight of other names of a place among the columns.
  var placeWeight: Double { query.description == nil ? 5 : 0.5 }

  static func list(_ numbers: [Int64]) -> Binding {
    .text("[" + numbers.map(String.init).joined(separator: ",") + "]")
  }

  private func phrases(_ expression: String) throws -> [OpenCatalogue.HotelRow] {
    try connection.statement(
      """
      SELECT hotel.id, hotel.body FROM (
        SELECT rowid AS seq FROM phrases WHERE phrases MATCH ?1
        ORDER BY rowid LIMIT ?2 OFFSET ?3
      ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
      ORDER BY found.seq
      """
    ).all(
      .text(expression), .integer(query.limit + 1), .integer(query.offset),
      row: OpenCatalogue.HotelRow.init)
  }

  /// The first ``enough`` hotels with all words, in the catalogue's order.
  private func first(inWords expression: String) throws -> [Int64] {
    try connection.statement(
      "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid LIMIT ?2"
    ).all(.text(expression), .integer(Self.enough)) { row in row.int64(0) }
  }

  private func count(inPhrases expression: String) throws -> Int {
    try connection.statement("SELECT count(*) FROM phrases WHERE phrases MATCH ?1")
      .first(.text(expression)) { row in Int(clamping: row.int64(0)) } ?? 0
  }
}

extension SearchError {
  /// A search that took too long, or whose caller has left.
  static let interrupted = SearchError(
    .timeout, "The search took too long.", detail: "the catalogue's own limit, or the task's end")

  /// Runs a search with a flag that is set when the task is cancelled.
  static func endingWithTask<Value: Sendable>(
    _ search: @Sendable (InterruptionFlag) async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let flag = InterruptionFlag()
    let outcome: Result<Value, SearchError> = await withTaskCancellationHandler {
      do throws(SearchError) {
        return .success(try await search(flag))
      } catch { return .failure(error) }
    } onCancel: {
      flag.raise()
    }
    return try outcome.get()
  }
}
