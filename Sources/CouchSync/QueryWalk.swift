import CouchQuery
import Documents
import Lanes
import Stores

/// Walks a query's way, page by page, each from the store's state at that moment.
struct QueryWalk {
  private enum Source {
    /// Ranges of ids.
    case documents([DocumentRange])
    /// An index's keys.
    case index(IndexDefinition, IndexRange)
    /// Places that are known already, in the direction of the walk.
    case listed
  }

  private let database: CouchDatabase
  private let plan: QueryPlan
  private let extras: DocumentExtras
  private let isDescending: Bool
  private var source: Source = .listed
  private var listed: ArraySlice<IndexEntry> = []
  private var last: IndexEntry?
  /// Places that were looked at.
  private(set) var examined = 0

  /// A walk that begins behind a place.
  /// - Parameter extras: what comes with each document.
  init(
    _ database: CouchDatabase, _ plan: QueryPlan, after place: IndexEntry?,
    extras: DocumentExtras = DocumentExtras()
  ) {
    self.database = database
    self.plan = plan
    self.extras = extras
    isDescending = plan.isDescending
    last = place
  }

  /// Gets ready: brings an index up to date, or looks up what a short list names.
  /// - Parameter budget: what an index's filter may cost.
  mutating func begin(_ budget: inout SelectorBudget) async throws {
    switch plan.part {
    case .nothing: break
    case .documents(let range): source = .documents(range.withoutDesigns)
    case .these(let ids): list(ids.map { IndexEntry(id: $0, key: []) })
    case .type(let type):
      let found = try await database.store.read(inSlices: TypedDocuments()) {
        found, view in try found.read(type, view) ? found.entries : nil
      }
      let sorted = try await found.sortedInSlices { $0.precedes($1) }
      list(sorted.indices.filter { $0 == 0 || sorted[$0] != sorted[$0 - 1] }.map { sorted[$0] })
    case .keys(var range):
      guard let definition = plan.index.definition else { break }
      range.wantsContent = plan.isCovered
      if try await database.bringUpToDate(definition, &budget) {
        source = .index(definition, range)
      } else {
        list(try await database.entries(of: definition, in: range, &budget))
      }
    }
  }

  /// The next documents; none only at the end.
  /// - Parameter count: places to look at, at most.
  mutating func next(
    _ count: Int, _ budget: inout SelectorBudget
  ) async throws -> [QueryCandidate] {
    while true {
      if case .index(let definition, let range) = source, listed.isEmpty {
        try await refill(count, definition, range, &budget)
      }
      let page: QueryPage
      if case .documents(let ranges) = source {
        page = try await documents(ranges, count)
      } else {
        page = try await listedDocuments(count)
      }
      guard let reached = page.last else { return [] }
      last = reached
      examined += page.examined
      if !page.candidates.isEmpty { return page.candidates }
      try await Slice.giveWay()
    }
  }

  // Ranges of ids.

  private func documents(
    _ ranges: [DocumentRange], _ count: Int
  ) async throws -> QueryPage {
    let (last, extras) = (last, extras)
    let rest = ranges.compactMap { $0.rest(after: last?.id) }
    return try await database.store.read { view in
      var page = QueryPage(count: count, extras: extras)
      for range in rest where !page.isFull {
        try view.documents(range) { document in
          // A range can't leave out its start, so the walk up does here.
          if document.id == last?.id { return true }
          try page.add(IndexEntry(id: document.id, key: []), document, in: view)
          return !page.isFull
        }
      }
      return page
    }
  }

  // Known places.

  /// Makes places, in ascending order, the rest of the walk.
  private mutating func list(_ places: [IndexEntry]) {
    let ordered = isDescending ? places.reversed() : places
    source = .listed
    listed = ordered.drop { place in last.map { !isBehind(place, $0) } ?? false }
  }

  private mutating func listedDocuments(_ count: Int) async throws -> QueryPage {
    let (places, extras) = (Array(listed.prefix(count)), extras)
    guard !places.isEmpty else { return QueryPage(count: 0) }
    var page = QueryPage(count: count, extras: extras)
    if places.allSatisfy({ $0.content != nil }) {
      for place in places where !page.isFull {
        if let document = place.coveredDocument { page.add(place, covered: document) }
      }
    } else {
      page = try await database.store.read { view in
        var page = QueryPage(count: count, extras: extras)
        for place in places where !page.isFull {
          if let document = place.coveredDocument {
            page.add(place, covered: document)
          } else {
            try page.add(place, try view.document(place.id), in: view)
          }
        }
        return page
      }
    }
    listed = listed.dropFirst(page.examined)
    return page
  }

  /// Reads further entries of an index. One that was removed meanwhile is replaced by what it would hold.
  private mutating func refill(
    _ count: Int, _ definition: IndexDefinition, _ range: IndexRange,
    _ budget: inout SelectorBudget
  ) async throws {
    let (id, last) = (definition.id, last)
    let wanted = examined == 0 ? count : QueryLimits.pageEntries
    let rest = range.rest(after: last)
    let entries = try await database.store.read { view -> [IndexEntry]? in
      guard try view.indexedSequence(id) != nil else { return nil }
      var entries: [IndexEntry] = []
      try view.entries(id, rest) { entry in
        entries.append(entry)
        return entries.count < wanted && !Slice.isOver
      }
      return entries
    }
    if let entries {
      listed = entries[...]
    } else {
      list(try await database.entries(of: definition, in: range, &budget))
    }
  }

  /// Whether a place comes after another in the walk's direction: by key, then by id.
  private func isBehind(_ place: IndexEntry, _ other: IndexEntry) -> Bool {
    isDescending ? place.precedes(other) : other.precedes(place)
  }
}

/// The live documents of a type, read in slices.
private struct TypedDocuments: Sendable {
  /// By their changes. One that changes between two slices comes again.
  private(set) var entries: [IndexEntry] = []
  private var last: Int64 = 0

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether all are found.
  mutating func read(_ type: String, _ view: any StoreView) throws -> Bool {
    while true {
      let page = try view.changes(ofType: type, after: last, limit: QueryLimits.catchUpBatch)
      guard let reached = page.last?.sequence else { return true }
      entries += page.map { IndexEntry(id: $0.id, key: []) }
      last = reached
      if Slice.isOver { return false }
    }
  }
}

extension IndexEntry {
  /// Whether the entry stands before another in an index: by key, then by id, both by bytes.
  func precedes(_ other: IndexEntry) -> Bool {
    key == other.key ? id < other.id : key.lexicographicallyPrecedes(other.key)
  }
}

extension DocumentRange {
  /// The range in parts that hold no design document, in its direction. The id of every other document
  /// starts with a byte below "_" or above it.
  fileprivate var withoutDesigns: [DocumentRange] {
    var (low, high) = (self, self)
    if end.map({ "_".precedesBytes(of: $0) }) ?? true {
      low.end = "_"
      low.includesEnd = false
    }
    if start.map({ $0.precedesBytes(of: "`") }) ?? true { high.start = "`" }
    return descending ? [high, low] : [low, high]
  }

  /// What is left of the range behind an id, that id perhaps included in a walk up; nil for nothing.
  fileprivate func rest(after id: DocumentID?) -> DocumentRange? {
    guard let id = id?.text else { return self }
    var rest = self
    if descending {
      if let start, !start.precedesBytes(of: id) { return nil }
      guard end.map({ !$0.precedesBytes(of: id) }) ?? true else { return self }
      rest.end = id
      rest.includesEnd = false
    } else {
      if let end, end.precedesBytes(of: id) { return nil }
      guard start.map({ $0.precedesBytes(of: id) }) ?? true else { return self }
      rest.start = id
    }
    return rest
  }
}

extension IndexRange {
  /// What is left of the range behind a place.
  fileprivate func rest(after place: IndexEntry?) -> IndexRange {
    guard let place else { return self }
    var rest = self
    if descending {
      guard end.map({ place.key.lexicographicallyPrecedes($0) }) ?? true else { return self }
      (rest.end, rest.id) = (place.key, place.id.text)
    } else {
      guard !place.key.lexicographicallyPrecedes(start) else { return self }
      (rest.start, rest.id) = (place.key, place.id.text)
    }
    return rest
  }
}
