import Documents

/// Rows that are lists of values, below a list with the names of the columns: the `values` of Google Sheets, a table of
/// JavaScript, or pandas' `columns` and `data`.
///
/// <https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values>
struct ListRows {
  /// The names of the columns; nil before a list of them was seen. A column without a name has none.
  private var names: [String?]?
  /// Whether a row was read below the names.
  private var isBelowHeader = false
  /// Whether each list has the values of all hotels under one name.
  private var isByColumns = false
  /// The columns, if objects describe them.
  private var described: DescribedColumns?

  /// What a list is.
  enum Row {
    /// A hotel, as an object.
    case object([UInt8])
    /// The names of the columns, their types, or a list without a value.
    case nothing
  }

  /// Reads a row; nil if it is no list that is understood.
  /// - Throws: ``RowFault`` for a list with more values than there are columns, and for one that is a column itself.
  mutating func read(_ text: [UInt8]) throws(RowFault) -> Row? {
    let isList = text.first { !RowSplitter.isSpace($0) } == UInt8(ascii: "[")
    guard isList || described != nil, let root = (try? LooseJSON.parsed(text))?.root.value
    else { return nil }
    let cells = isList ? root.array : root.object.flatMap { described?.values(of: $0) }
    guard let values = cells else { return nil }
    guard let names else {
      described = DescribedColumns(values)
      names = described?.names ?? Self.names(values)
      return names.map { _ in .nothing }
    }
    // Athena repeats the names in the first row.
    guard values.map(\.string) != names else { return .nothing }
    if !isBelowHeader {
      // ClickHouse writes the types of the columns below their names.
      isBelowHeader = true
      let texts = values.compactMap(\.string)
      if texts.count == values.count, TableLine.areTypes(texts) { return .nothing }
      isByColumns = TableHeader(names.map { Array(($0 ?? "").utf8) })
        .isBeside(values.map { Array(($0.string ?? "").utf8) })
    }
    guard !isByColumns else { throw RowFault(RowFault.byColumns) }
    guard values.dropFirst(names.count).allSatisfy(Self.isMissing) else {
      throw RowFault("The row has more values than the first one has names.")
    }
    var object = JSONObject()
    for (name, value) in zip(names, values) where !Self.isMissing(value) {
      if let name, object[name] == nil { object.append(name, value) }
    }
    return object.isEmpty ? .nothing : .object(JSONValue.object(object).bytes)
  }

  /// Whether a list names columns, of which one is that of a hotel's name.
  static func areColumns(_ text: [UInt8]) -> Bool {
    guard let values = (try? LooseJSON.parsed(text))?.root.value.array else { return false }
    return DescribedColumns(values) != nil || names(values) != nil
  }

  /// The names in a list of texts of which one is that of a hotel's name.
  private static func names(_ values: [JSONValue]) -> [String?]? {
    guard (1...TableReader.maximumColumns).contains(values.count),
      values.allSatisfy({ $0.string != nil || $0 == .null }),
      values.contains(where: {
        $0.string.flatMap { HotelAliases.match($0.utf8) }?.meaning == .name
      })
    else { return nil }
    return values.map { value in
      value.string.map(\.trimmed).flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  private static func isMissing(_ value: JSONValue) -> Bool {
    value == .null || value.string?.trimmed.isEmpty == true
  }
}
