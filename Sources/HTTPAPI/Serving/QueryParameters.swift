import HTTPTypes

/// A request's query, decoded once. Each name occurs once, and the route knows all of them.
struct QueryParameters: Sendable {
  private let values: [String: String]

  /// Decodes a query, in which `+` is a space, as in browsers' forms.
  /// - Parameter known: the names that the route documents.
  /// - Throws: ``Problem`` 400 that names the unknown or repeated parameter.
  init(_ query: String?, known: [String]) throws(Problem) {
    var values: [String: String] = [:]
    for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
      let (name, value) = try RequestTarget.pair(pair)
      // Known names are ASCII, so comparing strings is comparing bytes.
      guard known.contains(name) else {
        throw Problem(
          .badRequest, "unknown_parameter",
          "There is no query parameter of that name here; there are: \(known.joined(separator: ", "))"
        )
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw Problem.invalidParameter("\(name) must be given once")
      }
    }
    self.values = values
  }

  /// A parameter's text; nil if it is absent.
  subscript(name: String) -> String? { values[name] }

  /// A whole number within bounds.
  /// - Throws: ``Problem`` 400 that names the parameter.
  func int(_ name: String, in bounds: ClosedRange<Int>, default absent: Int) throws(Problem) -> Int
  {
    guard let text = values[name] else { return absent }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let value = Int(text), bounds.contains(value)
    else {
      throw Problem.invalidParameter(
        "\(name) must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
    }
    return value
  }

  /// Whether a parameter is `true`; it is not if it is `false` or absent.
  /// - Throws: ``Problem`` 400 that names the parameter.
  func isSet(_ name: String) throws(Problem) -> Bool {
    switch values[name] {
    case "true": return true
    case "false", nil: return false
    default: throw Problem.invalidParameter("\(name) must be true or false")
    }
  }

  /// A parameter as `read` understands it; nil if it is absent.
  /// - Throws: `problem` if `read` returns nil.
  func value<Value>(
    _ name: String, or problem: @autoclosure () -> Problem, _ read: (String) -> Value?
  ) throws(Problem) -> Value? {
    guard let text = values[name] else { return nil }
    guard let value = read(text) else { throw problem() }
    return value
  }

  /// A text of limited length in bytes.
  /// - Throws: ``Problem`` 400 that names the parameter.
  func text(_ name: String, maximumBytes: Int) throws(Problem) -> String? {
    guard let text = values[name] else { return nil }
    guard text.utf8.count <= maximumBytes else {
      throw Problem.invalidParameter("\(name) must be at most \(maximumBytes) bytes of UTF-8")
    }
    return text
  }
}

extension Substring {
  /// The text without spaces and tabs at both ends.
  var trimmingSpaces: String {
    var bytes = utf8
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return String(Substring(bytes))
  }
}

extension String {
  /// The text without spaces and tabs at both ends.
  var trimmingSpaces: String { self[...].trimmingSpaces }
}
