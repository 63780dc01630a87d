package import Documents
import Stores

/// How a query would be executed, as `_explain` shows it.
///
/// Source: CouchDB, "POST /{db}/_explain" and "index selection".
package struct QueryExplanation {
  private let planner: QueryPlanner
  private let request: FindRequest
  /// The indexes that can be used for the query, the best first.
  private let ranked: [QueryIndex]
  /// Those of them that the query requests by name; all when it requests none of them.
  private let pool: [QueryIndex]

  /// Makes the explanation of a planner's choice. A sort that `_find` would refuse is explained too, with no index.
  /// - Throws: 400 `invalid_index` when the query does not allow the fallback that it needs.
  package init(_ planner: QueryPlanner) throws {
    self.planner = planner
    request = planner.request
    ranked = planner.ranked
    let named = ranked.filter { planner.isNamed($0) }
    if named.isEmpty, !ranked.isEmpty { try planner.checkFallback(ranked) }
    pool = named.isEmpty ? ranked : named
  }

  /// The explanation as JSON.
  /// - Parameter database: the database's name.
  package func json(_ database: String) -> JSONValue {
    let plan = pool.first.map { planner.plan($0) }
    var members: JSONObject = [
      "dbname": .string(database),
      "index": plan?.index.json ?? .null,
      "partitioned": false,
      "selector": request.selector.json,
      "opts": .object(options),
      "limit": .number(JSONNumber(request.limit)),
      "skip": .number(JSONNumber(request.skip)),
      "fields": fields,
      "index_candidates": .array(candidates),
      "selector_hints": [hints],
    ]
    if let plan {
      members.append("mrargs", .object(arguments(plan)))
      members.append("covering", .bool(plan.isCovered))
    }
    return .object(members)
  }

  private var fields: JSONValue {
    .array((request.projection?.fields ?? []).map { .string($0.text) })
  }

  private var options: JSONObject {
    var options: JSONObject = [
      "use_index": request.useIndex?.json ?? [],
      "bookmark": .string(request.bookmarkText),
      "limit": .number(JSONNumber(request.limit)),
      "skip": .number(JSONNumber(request.skip)),
      "sort": request.sort.object,
      "fields": fields,
      "partition": "",
    ]
    options.append("r", request.clusterOptions["r"] ?? 1)
    options.append("conflicts", .bool(request.showsConflicts))
    for name in ["stale", "update", "stable"] {
      options.append(name, request.clusterOptions[name] ?? .null)
    }
    options.append("execution_stats", .bool(request.wantsStatistics))
    options.append("allow_fallback", .bool(request.allowsFallback))
    return options
  }

  // The part of the index that is read.

  private func arguments(_ plan: QueryPlan) -> JSONObject {
    let (low, high) = ends(plan)
    var arguments: JSONObject = [
      "include_docs": .bool(!plan.isCovered), "view_type": "map", "reduce": false,
      "partition": nil,
    ]
    arguments.append("start_key", plan.isDescending ? high : low)
    arguments.append("end_key", plan.isDescending ? low : high)
    arguments.append("direction", plan.isDescending ? "rev" : "fwd")
    arguments.append("stable", request.clusterOptions["stable"] ?? false)
    arguments.append("update", request.clusterOptions["update"] ?? true)
    arguments.append("conflicts", request.showsConflicts ? true : "undefined")
    return arguments
  }

  /// CouchDB's text for a position after every key.
  private static let most = "<MAX>"

  private func ends(_ plan: QueryPlan) -> (low: JSONValue, high: JSONValue) {
    switch plan.part {
    case .nothing: return (.null, .null)
    case .documents(let range):
      return (range.start.map { .string($0) } ?? .null, .string(range.end ?? Self.most))
    case .these(let ids):
      guard let first = ids.first, let last = ids.last else { return (.null, .null) }
      return (.string(first.text), .string(last.text))
    case .type(let type): return (.string(type), .string(type))
    case .keys:
      guard let definition = plan.index.definition else { return (.null, .null) }
      return ends(planner.fit(definition))
    }
  }

  private func ends(_ fit: IndexFit) -> (low: JSONValue, high: JSONValue) {
    let fixed = fit.fixed.map(\.value)
    let low = fit.bounds?.lower.map { [$0.value] } ?? []
    let high = fit.bounds?.upper.map { [$0.value] } ?? []
    return (.array(fixed + low), .array(fixed + high + [.string(Self.most)]))
  }

  // Why the other indexes are not used.

  /// One entry for each index except the chosen one: first the definitions, in reverse order of their names, then the
  /// built-in indexes.
  private var candidates: [JSONValue] {
    let all = planner.definitions.reversed().map { QueryIndex.defined($0) } + [.types, .documents]
    return all.compactMap { index in
      guard let verdict = verdict(index) else { return nil }
      return [
        "index": index.json,
        "analysis": [
          "usable": .bool(verdict.isUsable),
          "reasons": [["name": .string(verdict.reason)]],
          "ranking": .number(JSONNumber(verdict.rank)),
          "covering": index.definition.map { .bool(covers($0)) } ?? .null,
        ],
      ]
    }
  }

  /// Whether an index contains all fields of the answer. As in CouchDB, the selector's fields don't count here.
  private func covers(_ definition: IndexDefinition) -> Bool {
    request.projection.map { definition.covers($0.fields) } ?? false
  }

  private typealias Verdict = (isUsable: Bool, reason: String, rank: Int)

  /// Why an index was not chosen; nil for the chosen one.
  private func verdict(_ index: QueryIndex) -> Verdict? {
    guard let rank = ranked.firstIndex(where: { $0.isSame(as: index) }) else {
      let mismatch = planner.mismatch(index) ?? .fields
      let isPartial = mismatch == .partial
      return (false, mismatch.rawValue, isPartial ? ranked.count + 1 : max(1, ranked.count))
    }
    guard let poolRank = pool.firstIndex(where: { $0.isSame(as: index) }) else {
      return (true, "excluded_by_user", max(1, rank))
    }
    guard poolRank > 0, let chosen = pool.first else { return nil }
    return (true, reason(index, chosen), poolRank)
  }

  /// Why one usable index comes after another.
  private func reason(_ index: QueryIndex, _ chosen: QueryIndex) -> String {
    guard let definition = index.definition else { return "unfavored_type" }
    guard let better = chosen.definition else { return "less_overlap" }
    guard planner.fit(definition).overlap == planner.fit(better).overlap else {
      return "less_overlap"
    }
    return definition.sort.fields.count > better.sort.fields.count
      ? "too_many_fields" : "alphabetically_comes_after"
  }

  /// The fields of the selector that an index could be used for, and the others.
  private var hints: JSONValue {
    let facts = planner.facts
    let indexable = facts.fields.filter(facts.indexableFields.contains)
    let others = facts.fields.filter { !facts.indexableFields.contains($0) }
    return [
      "type": "json",
      "indexable_fields": .array(indexable.map { .string($0.text) }),
      "unindexable_fields": .array(others.map { .string($0.text) }),
    ]
  }
}

extension QueryIndex {
  fileprivate func isSame(as other: QueryIndex) -> Bool {
    switch (self, other) {
    case (.documents, .documents), (.types, .types): true
    case (.defined(let one), .defined(let other)):
      one.design == other.design && one.name.equalsBytes(of: other.name)
    default: false
    }
  }
}
