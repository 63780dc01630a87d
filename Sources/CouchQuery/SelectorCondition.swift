import Documents
import Text

indirect enum SelectorCondition: Sendable {
  /// `$lt`, `$lte`, `$eq`, `$ne`, `$gte`, `$gt`, by the order of ``JSONCollation``.
  case compares(SelectorComparison, JSONNode)
  /// `$exists`
  case exists(Bool)
  /// `$type`; a name that is not a type matches nothing.
  case isType(String)
  /// `$in`: equal to one of the values, or an array with an element that is equal to one of them.
  case isIn(SelectorValues)
  /// `$all`: an array that contains all of the values, or an array that is equal to the only value.
  case containsAll(SelectorValues)
  /// `$size`: an array with this many elements. The argument is kept as written.
  case hasSize(JSONNumber)
  /// `$mod`
  case hasRemainder(SelectorRemainder)
  /// `$regex`: a string that contains a match of the pattern.
  case matchesPattern(String, RegularExpression)
  /// `$beginsWith`: a string that begins with these bytes.
  case beginsWith(String)
  /// `$elemMatch`: an array with an element that matches.
  case hasElement(SelectorClause)
  /// `$allMatch`: an array whose elements all match.
  case hasOnlyElements(SelectorClause)
  /// `$keyMapMatch`: an object with a member name that matches.
  case hasName(SelectorClause)
  /// `$nin`, and `$not` of a condition for which no operator expresses the opposite.
  case not(SelectorCondition)

  /// The condition that is true exactly when this one is false.
  var negated: SelectorCondition {
    switch self {
    case .compares(let comparison, let value): .compares(comparison.negated, value)
    case .exists(let wanted): .exists(!wanted)
    case .not(let condition): condition
    default: .not(self)
    }
  }

  /// Whether an absent field meets the condition.
  var matchesMissing: Bool {
    guard case .exists(false) = self else { return false }
    return true
  }
}

enum SelectorComparison: String, Sendable {
  case less = "$lt"
  case lessOrEqual = "$lte"
  case equal = "$eq"
  case notEqual = "$ne"
  case greaterOrEqual = "$gte"
  case greater = "$gt"

  /// The comparison that is true exactly when this one is false.
  var negated: SelectorComparison {
    switch self {
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .equal: .notEqual
    case .notEqual: .equal
    case .greaterOrEqual: .less
    case .greater: .lessOrEqual
    }
  }

  /// Whether the comparison is true for two values whose order is below 0, 0 or above 0.
  func holds(_ order: Int) -> Bool {
    switch self {
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .equal: order == 0
    case .notEqual: order != 0
    case .greaterOrEqual: order >= 0
    case .greater: order > 0
    }
  }
}

/// The ranges of the types of values. The bounds are the least values of the type and of the next type.
enum SelectorKinds {
  static let numbers = FieldBounds(
    lower: node("true"), includesLower: false, upper: node("\"\""), includesUpper: false)
  static let strings = FieldBounds(lower: node("\"\""), upper: node("[]"), includesUpper: false)
  static let arrays = FieldBounds(lower: node("[]"), upper: node("{}"), includesUpper: false)
  static let objects = FieldBounds(lower: node("{}"), upper: nil)

  /// The range of the type that `$type` names; nil for a name that is not a type.
  static func bounds(ofType name: String) -> FieldBounds? {
    switch name {
    case "null": FieldBounds(lower: node("null"), upper: node("null"))
    case "boolean": FieldBounds(lower: node("false"), upper: node("true"))
    case "number": numbers
    case "string": strings
    case "array": arrays
    case "object": objects
    default: nil
    }
  }

  /// A string as a value; nil when it is longer than a string may be.
  static func string(_ text: String) -> JSONNode? {
    node(String(decoding: JSONValue.string(text).bytes, as: UTF8.self))
  }

  private static func node(_ text: String) -> JSONNode? {
    try? ParsedJSON(Array(text.utf8), limits: .document).root
  }
}
