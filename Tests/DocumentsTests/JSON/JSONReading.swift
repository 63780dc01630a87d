import Documents

/// Short ways to read a text in the JSON tests.
enum JSONReading {
  /// The error when the bytes are read; `nil` if they are accepted.
  static func fault(_ bytes: [UInt8], limits: JSONLimits = .document) -> JSONError? {
    do {
      _ = try ParsedJSON(bytes, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  /// The error when the text is read; `nil` if it is accepted.
  static func fault(_ text: String, limits: JSONLimits = .document) -> JSONError? {
    fault(Array(text.utf8), limits: limits)
  }

  /// The outermost value of a text.
  static func root(_ text: String, limits: JSONLimits = .document) throws -> JSONNode {
    try ParsedJSON(Array(text.utf8), limits: limits).root
  }

  /// The minified form of a text.
  static func minified(_ text: String) throws -> String {
    String(decoding: try root(text).minified, as: UTF8.self)
  }

  /// The canonical form of a text.
  static func canonical(_ text: String) throws -> String {
    String(decoding: try root(text).canonical, as: UTF8.self)
  }
}
