package import Documents
package import Stores

/// How a query is executed: which index, which part of it, in which direction.
package struct QueryPlan: Sendable {
  /// The part of an index that is read.
  package enum Part: Sendable {
    /// Nothing: no document can match.
    case nothing
    /// The documents in a range of ids, without design documents.
    case documents(DocumentRange)
    case these([DocumentID])
    case type(String)
    case keys(IndexRange)
  }

  package let index: QueryIndex
  package let part: Part
  package let isDescending: Bool
  /// Whether the index's entries contain all requested fields, so that no document is read.
  package var isCovered = false

  package init(index: QueryIndex, part: Part, isDescending: Bool, isCovered: Bool = false) {
    self.index = index
    self.part = part
    self.isDescending = isDescending
    self.isCovered = isCovered
  }
}

/// Chooses the index for a query.
///
/// Source: CouchDB, "POST /{db}/_find: index selection".
package struct QueryPlanner {
  /// Why an index can't be used for a query, with CouchDB's names.
  enum Mismatch: String {
    /// The index does not contain all documents that can match.
    case fields = "field_mismatch"
    /// The order of the index is not the requested one.
    case order = "sort_order_mismatch"
    /// The index has a filter and was not requested by name.
    case partial = "is_partial"
  }

  let definitions: [IndexDefinition]
  let request: FindRequest
  let facts: SelectorFacts

  package init(_ definitions: [IndexDefinition], _ request: FindRequest) {
    self.definitions = definitions
    self.request = request
    facts = SelectorFacts(request.selector)
  }

  /// Chooses the plan.
  /// - Throws: 400 `no_usable_index` when no index has the requested order; `invalid_index` when the query does not
  ///   allow a fallback, and the requested index can't be used or only the index of all documents is left;
  ///   `invalid_bookmark` when the bookmark is of another kind of index.
  package func plan() throws -> QueryPlan {
    let usable = ranked
    guard !usable.isEmpty else { throw Self.noSortIndex }
    var pool = usable.filter { isNamed($0) }
    if pool.isEmpty {
      try checkFallback(usable)
      pool = usable
    }
    if let bookmark = request.bookmark { pool = pool.filter { $0.kind == bookmark.kind } }
    guard let first = pool.first else { throw QueryCursor.invalid(request.bookmarkText) }
    return plan(first)
  }

  /// The indexes that can be used for the query, the best first, as in CouchDB: those whose first fields have the most
  /// indexable conditions, then those with fewer fields, then by name. The index of types follows, then all documents.
  ///
  /// The order decides in which order documents are returned. It does not depend on how many documents an index finds.
  ///
  /// Source: `mango_cursor_view:choose_best_index`.
  var ranked: [QueryIndex] {
    let usable = definitions.filter { mismatch(.defined($0)) == nil }
      .map { (definition: $0, fit: fit($0)) }
    var ranked = usable.sorted { Self.isBetter($0, $1) }.map { QueryIndex.defined($0.definition) }
    if mismatch(.types) == nil { ranked.append(.types) }
    if mismatch(.documents) == nil { ranked.append(.documents) }
    return ranked
  }

  /// Whether the query requests an index by name.
  func isNamed(_ index: QueryIndex) -> Bool {
    guard let definition = index.definition else { return false }
    return request.useIndex?.names(definition) ?? false
  }

  /// Why an index can't be used for the query; nil when it can.
  func mismatch(_ index: QueryIndex) -> Mismatch? {
    switch index {
    case .documents: return order(of: [.id])
    case .types:
      guard type != nil else { return .fields }
      return order(of: [.type, .id])
    case .defined(let definition): return mismatch(definition)
    }
  }

  /// The plan for an index that can be used for the query.
  func plan(_ index: QueryIndex) -> QueryPlan {
    let descending = request.sort.isDescending
    let part: QueryPlan.Part =
      switch index {
      case _ where request.selector.isEmptyList: .nothing
      case .documents: documents
      case .types: type.map { .type($0) } ?? .nothing
      case .defined(let definition):
        fit(definition).range(descending: descending).map { .keys($0) } ?? .nothing
      }
    return QueryPlan(
      index: index, part: part, isDescending: descending, isCovered: isCovered(by: index))
  }

  func fit(_ definition: IndexDefinition) -> IndexFit {
    IndexFit(definition.sort.fields, request.selector, facts)
  }

  /// Whether an index contains every field that the query requests or tests. The fields of a partial index's filter
  /// need not be in the index, because its documents matched the filter.
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
    // The document that is indexed has only these two of the fields that the service adds.
    for field in definition.sort.fields where field != .id && field != .revision {
      if field.names.first?.utf8.first == UInt8(ascii: "_") { return .fields }
      // As in CouchDB, documents without a field of the sort are left out.
      guard request.sort.fields.contains(field) || request.selector.requires(field) else {
        return .fields
      }
    }
    return order(of: definition.sort.fields)
  }

  /// Whether an index of these fields has the requested order. Leading fields with a fixed value are ignored.
  private func order(of fields: [FieldPath]) -> Mismatch? {
    guard let first = request.sort.fields.first else { return nil }
    guard let index = fields.firstIndex(of: first),
      fields[..<index].allSatisfy({ request.selector.bounds(of: $0)?.isEquality ?? false }),
      fields[index...].starts(with: request.sort.fields)
    else { return .order }
    return nil
  }

  /// Checks that a query may use an index that it does not request.
  /// - Parameter usable: the indexes that can be used for it.
  /// - Throws: 400 `invalid_index`.
  func checkFallback(_ usable: [QueryIndex]) throws {
    guard !request.allowsFallback else { return }
    if let wanted = request.useIndex {
      throw ServiceError(
        .invalidIndex,
        "_design/\(wanted.design)\(wanted.name.map { ", " + $0 } ?? "") specified by `use_index` "
          + "could not be found or it is not suitable.")
    }
    guard usable.count == 1, case .documents = usable[0] else { return }
    throw ServiceError(.invalidIndex, "You must specify an index with the `use_index` parameter.")
  }

  private static let noSortIndex = ServiceError(
    .noUsableIndex, "No index exists for this sort, try indexing by the sort fields.")

  private static func isBetter(
    _ left: (definition: IndexDefinition, fit: IndexFit),
    _ right: (definition: IndexDefinition, fit: IndexFit)
  ) -> Bool {
    if left.fit.overlap != right.fit.overlap { return left.fit.overlap > right.fit.overlap }
    let (first, second) = (left.definition, right.definition)
    if first.sort.fields.count != second.sort.fields.count {
      return first.sort.fields.count < second.sort.fields.count
    }
    if first.design != second.design { return first.design < second.design }
    return first.name.precedesBytes(of: second.name)
  }

  /// The only type that matching documents can have; nil when there is none. A `$in` gives no type, because it also
  /// matches an array of types that contains one of its strings; the engine's index does not contain arrays.
  private var type: String? {
    guard let bounds = request.selector.bounds(of: .type), bounds.isEquality else { return nil }
    return bounds.lower?.string
  }

  /// The documents to read when there is no other index.
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
