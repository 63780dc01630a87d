import JSON
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
  /// `$nin`: the opposite of `$in`.
  case isNotIn(SelectorValues)
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
  /// `$not` of a condition for which no operator expresses the opposite.
  case not(SelectorCondition)

  /// The condition that is true exactly when this one is false.
  var negated: SelectorCondition {
    switch self {
    case .compares(let comparison, let value): .compares(comparison.negated, value)
    case .exists(let wanted): .exists(!wanted)
    case .isIn(let values): .isNotIn(values)
    case .isNotIn(let values): .isIn(values)
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

/// A selector or a part of one: a combination of clauses, or a condition on a field.
indirect enum SelectorClause: Sendable {
  /// Matches when all clauses match; also when there are none.
  case all([SelectorClause])
  /// Matches when one clause matches; also, as in CouchDB, when there are none.
  case any([SelectorClause])
  case not(SelectorClause)
  /// A condition on a field; without a path a condition on the value itself: an element of an array, or a name.
  case field(FieldPath?, SelectorCondition)

  /// The clause with negations moved inwards to the conditions, as in CouchDB. This changes which documents match,
  /// because most conditions and also their opposites require the field to exist.
  ///
  /// Source: `mango_selector:norm_negations`.
  var normalized: SelectorClause {
    switch self {
    case .all(let clauses): .all(clauses.map(\.normalized))
    case .any(let clauses): .any(clauses.map(\.normalized))
    case .not(let clause): clause.negated
    case .field: self
    }
  }

  private var negated: SelectorClause {
    switch self {
    case .all(let clauses): .any(clauses.map(\.negated))
    case .any(let clauses): .all(clauses.map(\.negated))
    case .not(let clause): clause.normalized
    case .field(let path, let condition): .field(path, condition.negated)
    }
  }
}

/// The ranges of the types of values. The bounds are the least values of the type and of the next type.
enum SelectorKinds {
  static let numbers = FieldBounds(
    lower: node("true"), includesLower: false, upper: node("\"\""), includesUpper: false)
  static let strings = FieldBounds(
    lower: node("\"\""), upper: node("[]"), includesUpper: false)
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

/// The list of `$in`, `$nin` or `$all`, sorted so that a value is found by binary search.
struct SelectorValues: Sendable {
  /// The list as written.
  let source: JSONNode
  /// The sorted list; nil for a long list that has not been sorted yet.
  private var order: [JSONNode]?
  /// Lists of up to this many values are sorted without giving way.
  private static let short = 64

  /// Takes the elements of an array. ``prepared()`` sorts a long one.
  init(_ array: JSONNode) {
    source = array
    order = array.count <= Self.short ? sorted : nil
  }

  /// The values in order, each once.
  var sorted: [JSONNode] {
    order ?? Self.once(source.elements.sorted { JSONCollation.compare($0, $1) < 0 })
  }

  /// The list with its values sorted.
  /// - Throws: `WorkEnded` (503) when the request has ended.
  func prepared() async throws -> SelectorValues {
    guard order == nil else { return self }
    var values = self
    values.order = Self.once(
      try await Array(source.elements).sortedInSlices { JSONCollation.compare($0, $1) < 0 })
    return values
  }

  private static func once(_ values: [JSONNode]) -> [JSONNode] {
    var each: [JSONNode] = []
    for value in values {
      if let last = each.last, JSONCollation.areEqual(last, value) { continue }
      each.append(value)
    }
    return each
  }

  /// The index of a value in ``sorted``; nil when the list does not contain it.
  func index(of value: JSONNode) -> Int? {
    let sorted = sorted
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = JSONCollation.compare(sorted[middle], value) < 0
      (low, high) = isBefore ? (middle + 1, high) : (low, middle)
    }
    return low < sorted.count && JSONCollation.areEqual(sorted[low], value) ? low : nil
  }
}
