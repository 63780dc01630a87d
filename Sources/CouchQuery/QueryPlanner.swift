package import Documents
import JSON
package import Stores

/// Chooses the index that serves a query.
///
/// Source: CouchDB, "POST /{db}/_find: index selection".
package struct QueryPlanner {
  /// Why an index can't serve a query, in CouchDB's words.
  enum Mismatch: String {
    /// It leaves out documents that the selector doesn't.
    case fields = "field_mismatch"
    /// Its order is not the one asked for.
    case order = "sort_order_mismatch"
    /// It leaves documents out on purpose, so it must be asked for.
    case partial = "is_partial"
  }

  /// The definitions that count.
  let definitions: [IndexDefinition]
  /// The query.
  let request: FindRequest
  /// What the selector says.
  let facts: SelectorFacts

  /// A planner for one query.
  package init(_ definitions: [IndexDefinition], _ request: FindRequest) {
    self.definitions = definitions
    self.request = request
    facts = SelectorFacts(request.selector)
  }

  /// The plan.
  /// - Throws: 400 `no_usable_index` when nothing has the order asked for, or the query is not to fall
  ///   back to what is left; `invalid_index`; `invalid_bookmark` when the bookmark is of another way.
  package func plan() throws -> QueryPlan {
    let usable = ranked
    guard !usable.isEmpty else { throw Self.noSortIndex }
    var pool = usable.filter { isNamed($0) }
    if pool.isEmpty {
      try checkFallback(usable)
      pool = usable
    }
    if let bookmark = request.bookmark {
      pool = pool.filter { $0.way == bookmark.way }
    }
    guard let first = pool.first else { throw QueryCursor.invalid(request.bookmarkText) }
    return plan(first)
  }

  /// The indexes that can serve the query, the best first: narrowed indexes with the most fixed values,
  /// then those with a range, then those of which the selector says most, then those with the fewest fields,
  /// then by name; the index of types; whole indexes; all documents.
  var ranked: [QueryIndex] {
    let usable = definitions.filter { mismatch(.defined($0)) == nil }
      .map { (definition: $0, fit: fit($0)) }
    let narrow = usable.filter(\.fit.isNarrow).sorted { Self.isBetter($0, $1) }
    let whole = usable.filter { !$0.fit.isNarrow }.sorted { Self.isBetter($0, $1) }
    var ranked = narrow.map { QueryIndex.defined($0.definition) }
    if mismatch(.types) == nil { ranked.append(.types) }
    ranked += whole.map { .defined($0.definition) }
    if mismatch(.documents) == nil { ranked.append(.documents) }
    return ranked
  }

  /// Whether the query wishes for an index.
  func isNamed(_ index: QueryIndex) -> Bool {
    guard let definition = index.definition else { return false }
    return request.useIndex?.names(definition) ?? false
  }

  /// Why an index can't serve the query; nil when it can.
  func mismatch(_ index: QueryIndex) -> Mismatch? {
    switch index {
    case .documents: return order(of: [.id])
    case .types:
      guard type != nil else { return .fields }
      return order(of: [.type, .id])
    case .defined(let definition): return mismatch(definition)
    }
  }

  /// The plan for an index that can serve the query.
  func plan(_ index: QueryIndex) -> QueryPlan {
    let descending = request.sort.isDescending
    let part: QueryPlan.Part =
      switch index {
      case .documents: documents
      case .types: type.map { .type($0) } ?? .nothing
      case .defined(let definition):
        fit(definition).range(descending: descending).map { .keys($0) } ?? .nothing
      }
    return QueryPlan(
      index: index, part: part, isDescending: descending, isCovered: isCovered(by: index))
  }

  /// What an index can do for the query.
  func fit(_ definition: IndexDefinition) -> IndexFit {
    IndexFit(definition.sort.fields, request.selector)
  }

  /// Whether an index tells all that the query asks for. What a partial index's filter asks of, its documents have.
  ///
  /// Source: `mango_cursor_view:required_fields`, `mango_idx_view:covers`.
  private func isCovered(by index: QueryIndex) -> Bool {
    guard let definition = index.definition, let projection = request.projection,
      !request.showsConflicts, !facts.asksOfDocument
    else { return false }
    return definition.covers(projection.fields + facts.fields)
  }

  private func mismatch(_ definition: IndexDefinition) -> Mismatch? {
    if definition.filter != nil, !isNamed(.defined(definition)) { return .partial }
    // What an index is built from has no field that the service adds but these two.
    for field in definition.sort.fields where field != .id && field != .revision {
      if field.names.first?.utf8.first == UInt8(ascii: "_") { return .fields }
      // As in CouchDB, documents without a field that is sorted by are left out.
      guard request.sort.fields.contains(field) || request.selector.requires(field) else {
        return .fields
      }
    }
    return order(of: definition.sort.fields)
  }

  /// Whether an index of these fields gives the order asked for: fields whose value is fixed don't count.
  private func order(of fields: [FieldPath]) -> Mismatch? {
    guard let first = request.sort.fields.first else { return nil }
    guard let place = fields.firstIndex(of: first),
      fields[..<place].allSatisfy({ request.selector.bounds(of: $0)?.isEquality ?? false }),
      fields[place...].starts(with: request.sort.fields)
    else { return .order }
    return nil
  }

  private func checkFallback(_ usable: [QueryIndex]) throws {
    guard !request.allowsFallback else { return }
    if let wish = request.useIndex {
      throw ServiceError(
        .invalidIndex,
        "_design/\(wish.design)\(wish.name.map { ", " + $0 } ?? "") specified by `use_index` "
          + "could not be found or it is not suitable.")
    }
    guard usable.count == 1, case .documents = usable[0] else { return }
    throw ServiceError(
      .noUsableIndex, "You must specify a valid index with the `use_index` parameter.")
  }

  private static let noSortIndex = ServiceError(
    .noUsableIndex, "No index exists for this sort, try indexing by the sort fields.")

  private static func isBetter(
    _ left: (definition: IndexDefinition, fit: IndexFit),
    _ right: (definition: IndexDefinition, fit: IndexFit)
  ) -> Bool {
    let (one, other) = (left.fit, right.fit)
    if one.fixed.count != other.fixed.count { return one.fixed.count > other.fixed.count }
    if (one.bounds == nil) != (other.bounds == nil) { return one.bounds != nil }
    if one.overlap != other.overlap { return one.overlap > other.overlap }
    let (first, second) = (left.definition, right.definition)
    if first.sort.fields.count != second.sort.fields.count {
      return first.sort.fields.count < second.sort.fields.count
    }
    if first.design != second.design { return first.design < second.design }
    return first.name.precedesBytes(of: second.name)
  }
}

extension QueryPlanner {
  /// The one type that matching documents have, if there is one. A `$in` tells none: it finds a string
  /// within an array of types as well, which the engine's index doesn't hold.
  private var type: String? {
    guard let bounds = request.selector.bounds(of: .type), bounds.isEquality else { return nil }
    return bounds.lower?.string
  }

  /// Which documents to walk when there is no other index.
  private var documents: QueryPlan.Part {
    if let ids = facts.ids {
      let texts = Set(ids.sorted.compactMap(\.string).map(DocumentID.init(stored:)))
      return .these(texts.filter { !$0.isDesign }.sorted())
    }
    var range = DocumentRange(descending: request.sort.isDescending)
    guard let bounds = request.selector.bounds(of: .id) else { return .documents(range) }
    guard !bounds.isEmpty else { return .nothing }
    range.start = bounds.lower?.string
    range.end = bounds.upper?.string
    range.includesEnd = bounds.includesUpper
    return .documents(range)
  }
}

/// How a query is served: from which index, which part of it, in which direction.
package struct QueryPlan: Sendable {
  /// The part of an index that is walked.
  package enum Part: Sendable {
    /// Nothing: no document can match.
    case nothing
    /// Documents with these ids, design documents left out.
    case documents(DocumentRange)
    /// These documents.
    case these([DocumentID])
    /// Documents of this type.
    case type(String)
    /// These keys.
    case keys(IndexRange)
  }

  /// The index.
  package let index: QueryIndex
  /// The part.
  package let part: Part
  /// Whether the walk goes down.
  package let isDescending: Bool
  /// Whether the index's entries tell all that is asked, so that no document need be read.
  package var isCovered = false

  /// A plan.
  package init(index: QueryIndex, part: Part, isDescending: Bool, isCovered: Bool = false) {
    self.index = index
    self.part = part
    self.isDescending = isDescending
    self.isCovered = isCovered
  }
}
