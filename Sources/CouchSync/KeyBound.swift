import Documents

/// A key where `_all_docs` begins or ends, in CouchDB's order of JSON values: null, truth values and
/// numbers stand before all strings, arrays and objects behind them. Strings compare by bytes, as ids do.
///
/// Source: CouchDB, "Views collation"; "GET /{db}/_all_docs".
enum KeyBound: Sendable, Equatable {
  /// Before every id.
  case first
  /// At an id.
  case at(String)
  /// Behind every id.
  case last

  /// The bound that a key makes.
  init(_ key: JSONNode) {
    switch key.kind {
    case .null, .bool, .number: self = .first
    case .string: self = .at(key.string ?? "")
    case .array, .object: self = .last
    }
  }

  /// Whether the bound stands behind another.
  func isBehind(_ other: KeyBound) -> Bool {
    switch (self, other) {
    case (.at(let text), .at(let other)): other.precedesBytes(of: text)
    case (.first, _), (_, .last): false
    case (.last, _), (_, .first): true
    }
  }
}
