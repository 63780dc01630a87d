import Documents
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
