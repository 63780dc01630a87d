import Documents

/// Columns that objects describe, above rows of cells: the answers of BigQuery, Snowflake, Athena, Trino, ClickHouse,
/// Elasticsearch's SQL, Metabase, Google's visualization queries and Smartsheet.
///
/// - BigQuery: <https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query>
/// - Athena: <https://docs.aws.amazon.com/athena/latest/APIReference/API_ResultSet.html>
/// - Google's visualization: <https://developers.google.com/chart/interactive/docs/dev/implementing_data_source>
/// - Smartsheet: <https://developers.smartsheet.com/api/smartsheet/openapi/sheets>
struct DescribedColumns {
  /// The names of the columns.
  let names: [String?]
  private let columns: [JSONValue]

  /// Nil unless all values are objects with a name, of which one is that of a hotel's name.
  init?(_ values: [JSONValue]) {
    guard (1...TableReader.maximumColumns).contains(values.count) else { return nil }
    let names = values.map(Self.name)
    guard names.allSatisfy({ $0 != nil }),
      names.contains(where: { $0.flatMap { HotelAliases.match($0.utf8) }?.meaning == .name })
    else { return nil }
    (self.names, columns) = (names, values)
  }

  private static func name(of column: JSONValue) -> String? {
    ["label", "title", "name", "Name", "id"].lazy
      .compactMap { column.object?[$0]?.string?.trimmed }.first { !$0.isEmpty }
  }

  /// The values of a row in the order of the columns; nil for an object that is no row of cells.
  func values(of row: JSONObject) -> [JSONValue]? {
    for (cells, value) in [("f", "v"), ("c", "v"), ("Data", "VarCharValue")] {
      guard let cells = row[cells]?.array else { continue }
      return cells.enumerated().map { index, cell in
        let cell = cell.object?[value] ?? .null
        return columns.indices.contains(index) ? Self.plain(cell, in: columns[index]) : cell
      }
    }
    guard let cells = row["cells"]?.array else { return valuesByID(row) }
    let known = Dictionary(
      cells.map { ($0.object?["columnId"]?.number?.text, $0.object?["value"] ?? .null) },
      uniquingKeysWith: { first, _ in first })
    return columns.map { column in
      column.object?["id"]?.number.flatMap { known[$0.text] } ?? .null
    }
  }

  /// Quickbase has each value under the number of its column: `{"6": {"value": "Ritz"}}`.
  /// <https://developer.quickbase.com/operation/runQuery>
  private func valuesByID(_ row: JSONObject) -> [JSONValue]? {
    let cells = columns.map { column in
      column.object?["id"]?.number.flatMap { row[$0.text]?.object?["value"] }
    }
    return cells.contains { $0 != nil } ? cells.map { $0 ?? .null } : nil
  }

  /// BigQuery's value: a list of values has a cell for each, and a record is a row of its own fields.
  private static func plain(_ value: JSONValue, in column: JSONValue) -> JSONValue {
    if column.object?["mode"]?.string == "REPEATED", let cells = value.array {
      return .array(cells.map { record($0.object?["v"] ?? .null, in: column) })
    }
    return record(value, in: column)
  }

  private static func record(_ value: JSONValue, in column: JSONValue) -> JSONValue {
    guard let fields = column.object?["fields"]?.array, let cells = value.object?["f"]?.array else {
      return value
    }
    var object = JSONObject()
    for (field, cell) in zip(fields.prefix(TableReader.maximumColumns), cells) {
      guard let name = name(of: field), object[name] == nil else { continue }
      object.append(name, plain(cell.object?["v"] ?? .null, in: field))
    }
    return .object(object)
  }
}
