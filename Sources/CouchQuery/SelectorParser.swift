import Documents
import Stores
import Text

/// Parses a selector: checks it, makes implied operators explicit and joins the names of nested fields.
///
/// Source: CouchDB, "Mango: selectors"; `mango_selector:norm_ops` and `norm_fields`.
struct SelectorParser {
  private var nodes = 0
  private var values = 0
  private var patternUnits = 0
  /// The estimated number of instructions of all regular expressions so far.
  var patternSize = 0
  /// The bytes of memory for each regular expression.
  let patternMemory: Int

  /// Makes a parser of one selector.
  /// - Throws: 400 for more than ``SelectorLimits/allValues``.
  init(_ selector: JSONNode) throws {
    var left = SelectorLimits.allValues
    let patterns = try Self.patterns(in: selector, &left)
    patternMemory = RegularExpression.memoryBytes / max(1, patterns)
  }

  /// The most regular expressions that the selector can contain.
  /// - Parameter left: how many values it may still have.
  private static func patterns(in node: JSONNode, _ left: inout Int) throws -> Int {
    left -= 1
    guard left >= 0 else {
      throw ServiceError.selectorTooLarge("\(SelectorLimits.allValues) JSON values")
    }
    var count = 0
    for element in node.elements { count += try patterns(in: element, &left) }
    for member in node.members {
      count += try patterns(in: member.value, &left) + (member.nameEquals("$regex") ? 1 : 0)
    }
    return count
  }

  /// Reads a value in the place of a selector: an object of conditions, or a value that the field must equal.
  /// - Parameters:
  ///   - path: the field that the conditions are about, if there is one yet.
  ///   - depth: the number of operators and fields around the value.
  /// - Throws: 400; see ``Selector/init(_:)``.
  mutating func clause(_ node: JSONNode, path: FieldPath?, depth: Int) throws -> SelectorClause {
    guard node.kind == .object, node.count > 0 else { return .field(path, .compares(.equal, node)) }
    let clauses = try node.members.map { try clause($0, path: path, depth: depth + 1) }
    return clauses.count == 1 ? clauses[0] : .all(clauses)
  }

  /// Reads a member of an object of conditions.
  private mutating func clause(
    _ member: JSONMember, path: FieldPath?, depth: Int
  ) throws -> SelectorClause {
    try count()
    guard depth <= SelectorLimits.depth else {
      throw ServiceError.selectorTooLarge("\(SelectorLimits.depth) levels")
    }
    let (name, argument) = (member.name, member.value)
    guard name.utf8.first != UInt8(ascii: "$") else {
      return try combination(name, argument, path: path, depth: depth)
    }
    guard !name.isEmpty else {
      // CouchDB shows an empty name for a condition on an element of an array, and accepts it.
      guard path == nil else { throw ServiceError.missingFieldName }
      return try clause(argument, path: nil, depth: depth)
    }
    return try clause(argument, path: FieldPath(path, FieldPath(name)), depth: depth)
  }

  /// Reads an operator that combines selectors, or a condition.
  private mutating func combination(
    _ name: String, _ argument: JSONNode, path: FieldPath?, depth: Int
  ) throws -> SelectorClause {
    switch name {
    case "$and": return .all(try clauses(name, argument, path: path, depth: depth))
    case "$or": return .any(try clauses(name, argument, path: path, depth: depth))
    case "$nor": return .not(.any(try clauses(name, argument, path: path, depth: depth)))
    case "$not":
      guard argument.kind == .object else { throw ServiceError.badArgument(name, argument) }
      return .not(try clause(argument, path: path, depth: depth))
    default: return .field(path, try condition(name, argument, depth: depth))
    }
  }

  /// Reads the selectors of `$and`, `$or` or `$nor`.
  private mutating func clauses(
    _ name: String, _ argument: JSONNode, path: FieldPath?, depth: Int
  ) throws -> [SelectorClause] {
    guard argument.kind == .array else { throw ServiceError.badArgument(name, argument) }
    return try argument.elements.map { element in
      if element.kind != .object || element.count == 0 { try count() }
      return try clause(element, path: path, depth: depth)
    }
  }

  private mutating func count() throws {
    nodes += 1
    guard nodes <= SelectorLimits.nodes else {
      throw ServiceError.selectorTooLarge("\(SelectorLimits.nodes) operators and fields")
    }
  }

  /// Counts the values of a list, against the limit.
  mutating func count(values added: Int) throws {
    values += added
    guard values <= SelectorLimits.values else {
      throw ServiceError.selectorTooLarge("\(SelectorLimits.values) values in its lists")
    }
  }

  /// Counts the characters of a regular expression, against the limit.
  mutating func count(pattern: String) throws {
    patternUnits += pattern.utf16.count
    guard patternUnits <= SelectorLimits.patternUnits else {
      throw ServiceError.selectorTooLarge(
        "\(SelectorLimits.patternUnits) characters of regular expressions")
    }
  }

  /// Reads an operator that is a condition on one value.
  /// - Parameter depth: the number of operators and fields around its argument.
  mutating func condition(
    _ name: String, _ argument: JSONNode, depth: Int
  ) throws -> SelectorCondition {
    if let comparison = SelectorComparison(rawValue: name) {
      return .compares(comparison, argument)
    }
    switch name {
    case "$exists":
      guard let wanted = argument.bool else { throw ServiceError.badArgument(name, argument) }
      return .exists(wanted)
    case "$type":
      guard let type = argument.string else { throw ServiceError.badArgument(name, argument) }
      return .isType(type)
    case "$in": return .isIn(try list(name, argument))
    case "$nin": return .not(.isIn(try list(name, argument)))
    case "$all": return .containsAll(try list(name, argument))
    case "$size":
      guard let size = argument.number, size.isInteger, !size.isNegative || size.int == 0 else {
        throw ServiceError.badArgument(name, argument)
      }
      return .hasSize(size)
    case "$mod":
      guard let remainder = SelectorRemainder(argument) else {
        throw ServiceError.badArgument(name, argument)
      }
      return .hasRemainder(remainder)
    case "$regex": return try pattern(name, argument)
    case "$beginsWith":
      // CouchDB's error for any other argument.
      guard let prefix = argument.string else { throw ServiceError.invalidOperator(name) }
      return .beginsWith(prefix)
    default: return try nested(name, argument, depth: depth)
    }
  }

  /// Reads an operator whose argument is a selector for a part of the value.
  private mutating func nested(
    _ name: String, _ argument: JSONNode, depth: Int
  ) throws -> SelectorCondition {
    let make: (SelectorClause) -> SelectorCondition
    switch name {
    case "$elemMatch": make = SelectorCondition.hasElement
    case "$allMatch": make = SelectorCondition.hasOnlyElements
    case "$keyMapMatch": make = SelectorCondition.hasName
    case "$text", "$where", "$geoWithin", "$geoIntersects", "$near", "$nearSphere":
      throw ServiceError.unsupportedOperator(name)
    default: throw ServiceError.invalidOperator(name)
    }
    guard argument.kind == .object else { throw ServiceError.badArgument(name, argument) }
    return make(try clause(argument, path: nil, depth: depth))
  }

  private mutating func list(_ name: String, _ argument: JSONNode) throws -> SelectorValues {
    guard argument.kind == .array else { throw ServiceError.badArgument(name, argument) }
    try count(values: argument.count)
    return SelectorValues(argument)
  }

  private mutating func pattern(_ name: String, _ argument: JSONNode) throws -> SelectorCondition {
    guard let text = argument.string else { throw ServiceError.badArgument(name, argument) }
    try count(pattern: text)
    do throws(RegularExpressionError) {
      let scanned = try ScannedPattern(text)
      patternSize += scanned.size
      guard patternSize <= RegularExpression.programSize else { throw .tooLarge }
      return .matchesPattern(text, try RegularExpression(scanned, memory: patternMemory))
    } catch {
      switch error {
      case .malformed: throw ServiceError.badArgument(name, argument)
      case .notOffered(let construct): throw ServiceError.patternNotOffered(construct)
      case .tooLarge: throw ServiceError.patternTooLarge
      }
    }
  }
}

extension ServiceError {
  /// 400 for a path with an empty name, a `\` at its end, or too many names.
  static func invalidFieldName(_ text: String) -> ServiceError {
    ServiceError(.invalidFieldName, "Invalid field name: " + shortened(Array(text.utf8)))
  }

  /// 400 for a selector that is not an object.
  static func invalidSelector(_ node: JSONNode) -> ServiceError {
    ServiceError(
      .invalidSelectorJSON,
      "Selector must be a JSON object, not: " + shortened(node.minified))
  }

  /// 400 for a condition without a field.
  static let missingFieldName = ServiceError(
    .invalidSelector, "One or more conditions is missing a field name.")

  /// 400 for an argument that an operator does not accept.
  static func badArgument(_ name: String, _ node: JSONNode) -> ServiceError {
    ServiceError(.invalidArgument, "Bad argument for operator \(name): " + shortened(node.minified))
  }

  /// 400 for a construct of Perl's regular expressions that RE2 does not have.
  static func patternNotOffered(_ construct: String) -> ServiceError {
    ServiceError(
      .invalidSelector,
      "A regular expression has \(construct), which is not supported: expressions are RE2's")
  }

  /// 400 for regular expressions whose programs are too large.
  static let patternTooLarge = ServiceError(
    .invalidSelector, "The regular expressions are too large: fewer repetitions or classes")

  /// 400 for an operator that CouchDB does not support, or supports only for text indexes.
  static func unsupportedOperator(_ name: String) -> ServiceError {
    ServiceError(.notSupported, "Unsupported operator: \(name)")
  }

  /// 400 for an unknown operator.
  static func invalidOperator(_ name: String) -> ServiceError {
    ServiceError(.invalidOperator, "Invalid operator: " + shortened(Array(name.utf8)))
  }

  /// 400 for a selector that exceeds one of ``SelectorLimits``.
  static func selectorTooLarge(_ rule: String) -> ServiceError {
    .badRequest("A selector has at most " + rule)
  }

  /// The first 100 bytes of a client's value, to show it in an error.
  private static func shortened(_ bytes: [UInt8]) -> String {
    guard bytes.count > 100 else { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: bytes.prefix(100), as: UTF8.self) + "…"
  }
}
