import Documents
import RegularExpressions

/// Reads a selector: checks it, makes implied operators explicit and joins the names of nested
/// fields.
///
/// Source: CouchDB, "Mango: selectors"; `mango_selector:norm_ops` and `norm_fields`.
struct SelectorParser {
  private var nodes = 0
  private var values = 0
  private var patternUnits = 0
  /// Instructions of all regular expressions so far, as they are estimated.
  var patternSize = 0
  /// Bytes of memory that each regular expression has.
  let patternMemory: Int

  /// A parser of one selector.
  init(_ selector: JSONNode) {
    patternMemory = RegularExpression.memoryBytes / max(1, Self.patterns(in: selector))
  }

  /// How many regular expressions there are at most.
  private static func patterns(in node: JSONNode) -> Int {
    var count = 0
    for element in node.elements { count += patterns(in: element) }
    for member in node.members {
      count += patterns(in: member.value) + (member.nameEquals("$regex") ? 1 : 0)
    }
    return count
  }

  /// Reads a value that stands where a selector is wanted: an object of conditions, or what a field
  /// is to be equal to.
  /// - Parameters:
  ///   - path: the field that it is about, if there is one yet.
  ///   - depth: operators and fields around it.
  /// - Throws: 400; see ``Selector/init(_:)``.
  mutating func clause(
    _ node: JSONNode, path: FieldPath?, depth: Int
  ) throws(CouchError) -> SelectorClause {
    guard node.kind == .object, node.count > 0 else {
      return .field(path, .compares(.equal, node))
    }
    var clauses: [SelectorClause] = []
    for member in node.members {
      clauses.append(try clause(member, path: path, depth: depth + 1))
    }
    return clauses.count == 1 ? clauses[0] : .all(clauses)
  }

  /// Reads a member of an object of conditions.
  private mutating func clause(
    _ member: JSONMember, path: FieldPath?, depth: Int
  ) throws(CouchError) -> SelectorClause {
    try count()
    guard depth <= SelectorLimits.depth else {
      throw .selectorTooLarge("\(SelectorLimits.depth) levels")
    }
    let (name, argument) = (member.name, member.value)
    guard name.utf8.first != UInt8(ascii: "$") else {
      return try combination(name, argument, path: path, depth: depth)
    }
    guard !name.isEmpty else {
      // What CouchDB shows for a condition on an element of an array, and takes back.
      guard path == nil else { throw .missingFieldName }
      return try clause(argument, path: nil, depth: depth)
    }
    return try clause(argument, path: FieldPath(path, FieldPath(name)), depth: depth)
  }

  /// Reads an operator that joins selectors, or else a condition.
  private mutating func combination(
    _ name: String, _ argument: JSONNode, path: FieldPath?, depth: Int
  ) throws(CouchError) -> SelectorClause {
    switch name {
    case "$and": return .all(try clauses(name, argument, path: path, depth: depth))
    case "$or": return .any(try clauses(name, argument, path: path, depth: depth))
    case "$nor": return .not(.any(try clauses(name, argument, path: path, depth: depth)))
    case "$not":
      guard argument.kind == .object else { throw .badArgument(name, argument) }
      return .not(try clause(argument, path: path, depth: depth))
    default: return .field(path, try condition(name, argument, depth: depth))
    }
  }

  /// Reads the selectors of `$and`, `$or` or `$nor`.
  private mutating func clauses(
    _ name: String, _ argument: JSONNode, path: FieldPath?, depth: Int
  ) throws(CouchError) -> [SelectorClause] {
    guard argument.kind == .array else { throw .badArgument(name, argument) }
    var clauses: [SelectorClause] = []
    for element in argument.elements {
      if element.kind != .object || element.count == 0 { try count() }
      clauses.append(try clause(element, path: path, depth: depth))
    }
    return clauses
  }

  private mutating func count() throws(CouchError) {
    nodes += 1
    guard nodes <= SelectorLimits.nodes else {
      throw .selectorTooLarge("\(SelectorLimits.nodes) operators and fields")
    }
  }
}

extension SelectorParser {
  /// Counts the values of a list.
  mutating func count(values added: Int) throws(CouchError) {
    values += added
    guard values <= SelectorLimits.values else {
      throw .selectorTooLarge("\(SelectorLimits.values) values in its lists")
    }
  }

  /// Counts a regular expression.
  mutating func count(pattern: String) throws(CouchError) {
    patternUnits += pattern.utf16.count
    guard patternUnits <= SelectorLimits.patternUnits else {
      throw .selectorTooLarge("\(SelectorLimits.patternUnits) characters of regular expressions")
    }
  }
}
