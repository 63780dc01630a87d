import JSON
import RegularExpressions

/// What is asked of one value.
indirect enum SelectorCondition: Sendable {
  /// `$lt`, `$lte`, `$eq`, `$ne`, `$gte`, `$gt`, by the order of ``JSONCollation``.
  case compares(SelectorComparison, JSONNode)
  /// `$exists`
  case exists(Bool)
  /// `$type`; a name that no type has matches nothing.
  case isType(String)
  /// `$in`: equal to one of the values, or an array with an element that is.
  case isIn(SelectorValues)
  /// `$nin`: the opposite.
  case isNotIn(SelectorValues)
  /// `$all`: an array with all of the values, or the very array that is the one value.
  case containsAll(SelectorValues)
  /// `$size`: an array of so many elements. The argument is kept as it is written.
  case hasSize(JSONNumber)
  /// `$mod`
  case hasRemainder(SelectorRemainder)
  /// `$regex`: a string in which the pattern occurs.
  case matchesPattern(String, RegularExpression)
  /// `$beginsWith`: a string whose first bytes these are.
  case beginsWith(String)
  /// `$elemMatch`: an array with an element that matches.
  case hasElement(SelectorClause)
  /// `$allMatch`: an array with elements that all match.
  case hasOnlyElements(SelectorClause)
  /// `$keyMapMatch`: an object with a name that matches.
  case hasName(SelectorClause)
  /// `$not` where no operator says the opposite.
  case not(SelectorCondition)

  /// The condition that holds of a value when this one does not.
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

  /// Whether a field that is not there meets the condition.
  var matchesMissing: Bool {
    guard case .exists(false) = self else { return false }
    return true
  }
}

/// A comparison of a field with a value.
enum SelectorComparison: String, Sendable {
  case less = "$lt"
  case lessOrEqual = "$lte"
  case equal = "$eq"
  case notEqual = "$ne"
  case greaterOrEqual = "$gte"
  case greater = "$gt"

  /// The comparison that holds when this one does not.
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

  /// Whether it holds of two values whose order is below 0, 0 or above 0.
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

/// A selector, or a part of one that stands for itself: clauses joined, and conditions on fields.
indirect enum SelectorClause: Sendable {
  /// Matches when all do; also when there are none.
  case all([SelectorClause])
  /// Matches when one does; also, as CouchDB has it, when there are none.
  case any([SelectorClause])
  /// Matches when the other does not.
  case not(SelectorClause)
  /// A condition on a field, or with no path on the value itself: an element of an array, a name.
  case field(FieldPath?, SelectorCondition)

  /// The same with negations moved inwards to the conditions, as CouchDB does: it changes which
  /// documents match, since most conditions and their opposites all want the field to be there.
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

/// The ranges of the kinds of values: the ends are the least values of each kind and of the next.
enum SelectorKinds {
  /// All numbers.
  static let numbers = FieldBounds(
    lower: node("true"), includesLower: false, upper: node("\"\""), includesUpper: false)
  /// All strings.
  static let strings = FieldBounds(
    lower: node("\"\""), upper: node("[]"), includesUpper: false)
  /// All arrays.
  static let arrays = FieldBounds(lower: node("[]"), upper: node("{}"), includesUpper: false)
  /// All objects.
  static let objects = FieldBounds(lower: node("{}"), upper: nil)

  /// The range of the kind that `$type` names; nil for a name that none has.
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

  /// A string as a value of its own; nil if it is longer than a string may be.
  static func string(_ text: String) -> JSONNode? {
    node(String(decoding: JSONValue.string(text).bytes, as: UTF8.self))
  }

  private static func node(_ text: String) -> JSONNode? {
    try? ParsedJSON(Array(text.utf8), limits: .document).root
  }
}

/// The list of `$in`, `$nin` or `$all`, kept in order so that a value is found in few steps.
struct SelectorValues: Sendable {
  /// The list as it was written.
  let source: JSONNode
  /// Nil for a long list that is not put in order yet.
  private var order: [JSONNode]?
  /// Values that are sorted without giving way.
  private static let short = 64

  /// Takes an array's elements. A long one is put in order by ``prepared()``.
  init(_ array: JSONNode) {
    source = array
    order = array.count <= Self.short ? sorted : nil
  }

  /// Its values in their order, each once.
  var sorted: [JSONNode] {
    order ?? Self.once(source.elements.sorted { JSONCollation.compare($0, $1) < 0 })
  }

  /// The same with its values in order.
  /// - Throws: 503 when nobody waits for the answer any more.
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

  /// The place of a value in ``sorted``; nil if it isn't there.
  func place(of value: JSONNode) -> Int? {
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
