import Documents
import RegularExpressions

extension SelectorParser {
  /// Reads an operator that asks something of one value.
  /// - Parameter depth: operators and fields around its argument.
  mutating func condition(
    _ name: String, _ argument: JSONNode, depth: Int
  ) throws(CouchError) -> SelectorCondition {
    if let comparison = SelectorComparison(rawValue: name) {
      return .compares(comparison, argument)
    }
    switch name {
    case "$exists":
      guard let wanted = argument.bool else { throw .badArgument(name, argument) }
      return .exists(wanted)
    case "$type":
      guard let type = argument.string else { throw .badArgument(name, argument) }
      return .isType(type)
    case "$in": return .isIn(try list(name, argument))
    case "$nin": return .isNotIn(try list(name, argument))
    case "$all": return .containsAll(try list(name, argument))
    case "$size":
      guard let size = argument.number, size.isInteger, !size.isNegative || size.int == 0 else {
        throw .badArgument(name, argument)
      }
      return .hasSize(size)
    case "$mod":
      guard let remainder = SelectorRemainder(argument) else { throw .badArgument(name, argument) }
      return .hasRemainder(remainder)
    case "$regex": return try pattern(name, argument)
    case "$beginsWith":
      // CouchDB's word for any other argument.
      guard let prefix = argument.string else { throw .invalidOperator(name) }
      return .beginsWith(prefix)
    default: return try nested(name, argument, depth: depth)
    }
  }

  /// Reads an operator whose argument is a selector for a part of the value.
  private mutating func nested(
    _ name: String, _ argument: JSONNode, depth: Int
  ) throws(CouchError) -> SelectorCondition {
    switch name {
    case "$elemMatch", "$allMatch", "$keyMapMatch": break
    case "$text", "$where", "$geoWithin", "$geoIntersects", "$near", "$nearSphere":
      throw .unsupportedOperator(name)
    default: throw .invalidOperator(name)
    }
    guard argument.kind == .object else { throw .badArgument(name, argument) }
    let clause = try clause(argument, path: nil, depth: depth)
    switch name {
    case "$elemMatch": return .hasElement(clause)
    case "$allMatch": return .hasOnlyElements(clause)
    default: return .hasName(clause)
    }
  }

  private mutating func list(
    _ name: String, _ argument: JSONNode
  ) throws(CouchError) -> SelectorValues {
    guard argument.kind == .array else { throw .badArgument(name, argument) }
    try count(values: argument.count)
    return SelectorValues(argument)
  }

  private mutating func pattern(
    _ name: String, _ argument: JSONNode
  ) throws(CouchError) -> SelectorCondition {
    guard let text = argument.string else { throw .badArgument(name, argument) }
    try count(pattern: text)
    do throws(RegularExpressionError) {
      let scanned = try ScannedPattern(text)
      patternSize += scanned.size
      guard patternSize <= RegularExpression.programSize else { throw .tooLarge }
      return .matchesPattern(text, try RegularExpression(scanned, memory: patternMemory))
    } catch {
      switch error {
      case .malformed: throw .badArgument(name, argument)
      case .notOffered(let construct): throw .patternNotOffered(construct)
      case .tooLarge: throw .patternTooLarge
      }
    }
  }
}
