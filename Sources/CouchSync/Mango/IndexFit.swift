import Documents
import Stores

/// What one index can do for one query.
struct IndexFit: Sendable {
  /// The index's fields.
  let fields: [FieldPath]
  /// The values of the index's first fields that the selector fixes.
  let fixed: [JSONNode]
  /// What the selector says of the field after them, if it bounds it.
  let bounds: FieldBounds?
  /// How many of the index's first fields the selector bounds.
  let overlap: Int

  /// Compares an index's fields with a selector.
  init(_ fields: [FieldPath], _ selector: Selector) {
    var fixed: [JSONNode] = []
    var last: FieldBounds?
    for field in fields {
      guard let bounds = selector.bounds(of: field) else { break }
      guard bounds.isEquality, let value = bounds.lower else {
        last = bounds
        break
      }
      fixed.append(value)
    }
    self.fields = fields
    self.fixed = fixed
    bounds = last
    overlap = fields.prefix { selector.bounds(of: $0) != nil }.count
  }

  /// Whether the selector narrows the walk.
  var isNarrow: Bool { !fixed.isEmpty || bounds != nil }

  /// The keys to walk; nil when no key can match.
  func range(descending: Bool) -> IndexRange? {
    let base = IndexKey.bytes(fixed, of: fields)
    var range = IndexRange(start: base, descending: descending)
    range.end = base.isEmpty ? nil : JSONCollation.successor(base)
    if let bounds {
      guard !bounds.isEmpty else { return nil }
      if let lower = bounds.lower {
        let key = IndexKey.bytes(fixed + [lower], of: fields)
        guard let start = bounds.includesLower ? key : JSONCollation.successor(key) else {
          return nil
        }
        range.start = start
      }
      if let upper = bounds.upper {
        let key = IndexKey.bytes(fixed + [upper], of: fields)
        range.end = bounds.includesUpper ? JSONCollation.successor(key) : key
      }
    }
    if let end = range.end, !range.start.lexicographicallyPrecedes(end) { return nil }
    // Keys in the index are cut, and so is what they are compared with. A cut key comes no later than the
    // whole one, so the end can stay.
    range.start = IndexKey.kept(range.start)
    return range
  }
}
