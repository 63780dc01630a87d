import Documents

extension SelectorClause {
  /// Whether everything that matches has the field. As in CouchDB, a condition on a part of the field does not count: an
  /// index on `o` is not used for `o.p`.
  ///
  /// Source: `mango_selector:has_required_fields`.
  func requires(_ field: FieldPath) -> Bool {
    switch self {
    case .all(let clauses): clauses.contains { $0.requires(field) }
    case .any(let clauses): !clauses.isEmpty && clauses.allSatisfy { $0.requires(field) }
    case .not: false
    case .field(let path?, let condition): !condition.matchesMissing && field == path
    case .field(nil, _): false
    }
  }

  /// The values that the field can have in everything that matches; see ``Selector/bounds(of:)``.
  func bounds(of field: FieldPath) -> FieldBounds? {
    switch self {
    case .all(let clauses):
      return clauses.reduce(nil) { bounds, clause in
        guard let more = clause.bounds(of: field) else { return bounds }
        return bounds?.intersection(more) ?? more
      }
    case .any(let clauses):
      guard var bounds = clauses.first?.bounds(of: field) else { return nil }
      for clause in clauses.dropFirst() {
        guard let more = clause.bounds(of: field), let hull = bounds.hull(more) else { return nil }
        bounds = hull
      }
      return bounds
    case .field(let path?, let condition) where path == field:
      return path.isID ? condition.idBounds : condition.bounds
    case .field, .not: return nil
    }
  }
}

extension SelectorCondition {
  /// Whether CouchDB chooses among indexes by the condition: a comparison, `$beginsWith` or `$exists`.
  ///
  /// Source: `mango_idx_view:indexable`.
  fileprivate var isIndexable: Bool {
    switch self {
    case .compares(.notEqual, _): false
    case .compares, .beginsWith, .exists: true
    default: false
    }
  }

  /// The values that can meet the condition, in the order of ``JSONCollation``.
  fileprivate var bounds: FieldBounds? {
    switch self {
    case .compares(let comparison, let value): comparison.bounds(value, isByBytes: false)
    case .isType(let name): SelectorKinds.bounds(ofType: name)
    case .isIn(let values): Self.bounds(ofList: values)
    case .containsAll, .hasSize, .hasElement, .hasOnlyElements: SelectorKinds.arrays
    case .hasName: SelectorKinds.objects
    case .hasRemainder: SelectorKinds.numbers
    case .matchesPattern: SelectorKinds.strings
    case .beginsWith(let prefix): SelectorPrefix.bounds(prefix)
    case .exists, .not: nil
    }
  }

  /// The ids that can meet the condition, in byte order. Only conditions with strings give a range.
  fileprivate var idBounds: FieldBounds? {
    switch self {
    case .compares(let comparison, let value) where value.kind == .string:
      return comparison.bounds(value, isByBytes: true)
    case .isIn(let values):
      let ids = values.sorted.filter { $0.kind == .string }
      return FieldBounds(
        lower: ids.min { JSONCollation.compareByBytes($0, $1) < 0 },
        upper: ids.max { JSONCollation.compareByBytes($0, $1) < 0 }, isByBytes: true)
    case .beginsWith(let prefix): return SelectorPrefix.idBounds(prefix)
    default: return nil
    }
  }

  /// The values that can meet `$in`: those between the least and the greatest of the list, and all arrays, because
  /// `$in` then looks at their elements.
  private static func bounds(ofList values: SelectorValues) -> FieldBounds? {
    guard let first = values.sorted.first, let last = values.sorted.last else { return nil }
    let listed = FieldBounds(lower: first, upper: last)
    guard let listed, let arrays = SelectorKinds.arrays else { return nil }
    return listed.hull(arrays)
  }
}

extension SelectorComparison {
  /// The values for which the comparison is true.
  fileprivate func bounds(_ value: JSONNode, isByBytes: Bool) -> FieldBounds? {
    switch self {
    case .less: FieldBounds(lower: nil, upper: value, includesUpper: false, isByBytes: isByBytes)
    case .lessOrEqual: FieldBounds(lower: nil, upper: value, isByBytes: isByBytes)
    case .equal: FieldBounds(lower: value, upper: value, isByBytes: isByBytes)
    case .notEqual: nil
    case .greaterOrEqual: FieldBounds(lower: value, upper: nil, isByBytes: isByBytes)
    case .greater: FieldBounds(lower: value, includesLower: false, upper: nil, isByBytes: isByBytes)
    }
  }
}

/// The range of the strings with a common prefix.
enum SelectorPrefix {
  /// The strings that begin with a prefix, in the order of ``JSONCollation``.
  ///
  /// In the collation, a longer text does not always come after its prefix: Thai vowels exchange their position with
  /// the next character. This never happens with the letters a to z and digits. Therefore the range is made from the
  /// letters and digits at the beginning of the prefix. It ends before the text in which the last of them is replaced
  /// by the next letter or digit.
  static func bounds(_ prefix: String) -> FieldBounds? {
    let plain = prefix.utf8.prefix { isDigit($0) || isLetter($0) }
    guard !plain.isEmpty else { return SelectorKinds.strings }
    var next = Array(plain)
    while let last = next.popLast() {
      guard last | 0x20 != UInt8(ascii: "z") else { continue }
      next.append(following(last))
      break
    }
    let upper = next.isEmpty ? nil : SelectorKinds.string(String(decoding: next, as: UTF8.self))
    return FieldBounds(
      lower: SelectorKinds.string(String(decoding: plain, as: UTF8.self)),
      upper: upper ?? SelectorKinds.strings?.upper, includesUpper: false)
  }

  /// The ids that begin with a prefix, in byte order, which is the order of the characters' code points. The range ends
  /// before the text in which the last character is replaced by the next one.
  static func idBounds(_ prefix: String) -> FieldBounds? {
    var next = Array(prefix.unicodeScalars)
    while let last = next.popLast() {
      let number = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let following = Unicode.Scalar(number) else { continue }
      next.append(following)
      break
    }
    var upper = String.UnicodeScalarView()
    upper.append(contentsOf: next)
    return FieldBounds(
      lower: SelectorKinds.string(prefix),
      upper: next.isEmpty ? nil : SelectorKinds.string(String(upper)), includesUpper: false,
      isByBytes: true)
  }

  /// The letter or digit after `byte`, which is not z. A letter is lower-case, because it comes before its upper-case
  /// form.
  private static func following(_ byte: UInt8) -> UInt8 {
    if byte == UInt8(ascii: "9") { return UInt8(ascii: "a") }
    return (isLetter(byte) ? byte | 0x20 : byte) + 1
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

/// Facts about the fields in a selector, in addition to ``Selector/bounds(of:)``.
struct SelectorFacts {
  /// Every field that the selector contains, each once, in order.
  private(set) var fields: [FieldPath] = []
  /// Whether a condition is on the document itself, such as one on its names.
  private(set) var asksOfDocument = false
  /// The fields with indexable conditions that must all be true. They decide which index is chosen.
  private(set) var indexableFields: Set<FieldPath> = []
  /// The values of the shortest `$in` that the id of every matching document must be in; nil when there is none.
  private(set) var ids: SelectorValues?

  init(_ selector: Selector) {
    if let clause = selector.clause { read(clause, isRequired: true) }
  }

  private mutating func read(_ clause: SelectorClause, isRequired: Bool) {
    switch clause {
    case .all(let clauses): for clause in clauses { read(clause, isRequired: isRequired) }
    case .any(let clauses): for clause in clauses { read(clause, isRequired: false) }
    case .not(let clause): read(clause, isRequired: false)
    case .field(nil, _): asksOfDocument = true
    case .field(let field?, let condition):
      if !fields.contains(field) { fields.append(field) }
      if isRequired, condition.isIndexable { indexableFields.insert(field) }
      guard isRequired, field.isID, case .isIn(let values) = condition else { return }
      if ids.map({ values.sorted.count < $0.sorted.count }) ?? true { ids = values }
    }
  }
}

/// `$mod`: an integer that leaves a remainder. As in Erlang and C, the remainder has the integer's sign.
struct SelectorRemainder: Sendable {
  /// The argument as written.
  let source: JSONNode
  private let divisor: Int
  private let remainder: Int?

  /// Reads `[divisor, remainder]`; nil unless both are integers and the divisor is not 0 and has at most 64 bits.
  init?(_ argument: JSONNode) {
    guard argument.kind == .array, argument.count == 2, let divisor = argument[0]?.int,
      divisor != 0, let remainder = argument[1]?.number, remainder.isInteger
    else { return nil }
    source = argument
    self.divisor = divisor
    self.remainder = remainder.int
  }

  /// Whether a number is an integer, of any length, with this remainder.
  func matches(_ number: JSONNumber) -> Bool {
    guard number.isInteger else { return false }
    var rest: UInt128 = 0
    for digit in number.text.utf8 where digit != UInt8(ascii: "-") {
      rest = (rest * 10 + UInt128(digit - UInt8(ascii: "0"))) % UInt128(divisor.magnitude)
    }
    return remainder == (number.isNegative ? -Int(rest) : Int(rest))
  }
}

extension JSONNumber {
  /// Whether the number is written as an integer, without a point or an exponent.
  var isInteger: Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == 0x2D }
  }

  /// Whether the number is written with a minus sign.
  var isNegative: Bool { text.utf8.first == UInt8(ascii: "-") }
}
