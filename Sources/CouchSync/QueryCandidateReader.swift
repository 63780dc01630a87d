import CouchQuery
import Documents
import Scheduling
import Stores

/// Reads the candidates of a query plan page by page, each page from the snapshot of the store at that moment.
struct QueryCandidateReader {
  private enum Source {
    case documents([DocumentRange])
    case index(IndexDefinition, IndexRange)
    /// Positions that are known already, in the order in which they are read.
    case listed
  }

  private let database: CouchDatabase
  private let plan: QueryPlan
  private let extras: DocumentExtras
  private let isDescending: Bool
  private var source: Source = .listed
  private var listed: ArraySlice<IndexEntry> = []
  private var last: IndexEntry?
  /// How many positions were examined.
  private(set) var examined = 0

  /// Makes a reader that begins after a position.
  /// - Parameter extras: the extra members of each document.
  init(
    _ database: CouchDatabase, _ plan: QueryPlan, after position: IndexEntry?,
    extras: DocumentExtras = DocumentExtras()
  ) {
    self.database = database
    self.plan = plan
    self.extras = extras
    isDescending = plan.isDescending
    last = position
  }

  /// Prepares the reading: brings an index up to date, or looks up the documents of a short list.
  /// - Parameter budget: the cost that the index's filter may have.
  mutating func begin(_ budget: inout SelectorBudget) async throws {
    switch plan.part {
    case .nothing: break
    case .documents(let range): source = .documents(range.withoutDesigns)
    case .these(let ids): list(ids.map { IndexEntry(id: $0, key: []) })
    case .type(let type):
      let found = try await database.store.read(inSlices: TypedDocuments()) {
        found, view in try found.read(type, view) ? found.entries.all : nil
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
  /// - Parameter count: how many positions to examine at most.
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
        page = try await listDocuments(count)
      }
      guard let reached = page.last else { return [] }
      last = reached
      examined += page.examined
      if !page.candidates.isEmpty { return page.candidates }
      try await Slice.giveWay()
    }
  }

  // Ranges of document ids.

  private func documents(_ ranges: [DocumentRange], _ count: Int) async throws -> QueryPage {
    let (last, extras) = (last, extras)
    let rest = ranges.compactMap { $0.rest(after: last?.id) }
    return try await database.store.read { view in
      var page = QueryPage(count: count, extras: extras)
      for range in rest where !page.isOver(within: view.slice) {
        try view.documents(range) { document in
          // A range always includes its start, so an ascending reader skips it here.
          if document.id == last?.id { return true }
          try page.add(IndexEntry(id: document.id, key: []), document, in: view)
          return !page.isOver(within: view.slice)
        }
      }
      return page
    }
  }

  // Known positions.

  /// Makes positions, in ascending order, the rest of what is read.
  private mutating func list(_ positions: [IndexEntry]) {
    let ordered = isDescending ? positions.reversed() : positions
    source = .listed
    listed = ordered.drop { position in last.map { !follows(position, $0) } ?? false }
  }

  private mutating func listDocuments(_ count: Int) async throws -> QueryPage {
    let (positions, extras) = (Array(listed.prefix(count)), extras)
    guard !positions.isEmpty else { return QueryPage(count: 0) }
    var page = QueryPage(count: count, extras: extras)
    if positions.allSatisfy({ $0.content != nil }) {
      for position in positions where !page.isFull {
        try await Slice.giveWay()
        if let document = position.coveredDocument { page.add(position, covered: document) }
      }
    } else {
      page = try await database.store.read { view in
        var page = QueryPage(count: count, extras: extras)
        for position in positions where !page.isOver(within: view.slice) {
          if let document = position.coveredDocument {
            page.add(position, covered: document)
          } else {
            try page.add(position, try view.document(position.id), in: view)
          }
        }
        return page
      }
    }
    listed = listed.dropFirst(page.examined)
    return page
  }

  /// Reads further entries of an index. If the index was removed meanwhile, computes what it would contain.
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
        return entries.count < wanted && !view.slice.isOver
      }
      return entries
    }
    if let entries {
      listed = entries[...]
    } else {
      list(try await database.entries(of: definition, in: range, &budget))
    }
  }

  /// Whether a position comes after another in the direction of reading: by key, then by id.
  private func follows(_ position: IndexEntry, _ other: IndexEntry) -> Bool {
    isDescending ? position.precedes(other) : other.precedes(position)
  }
}

/// Finds the live documents of a type, in slices.
private struct TypedDocuments: Sendable {
  /// The documents in the order of their changes. One that changes between two slices occurs twice.
  private(set) var entries = GrowingList<IndexEntry>()
  private var last: Int64 = 0

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: whether all have been found.
  mutating func read(_ type: String, _ view: any StoreView) throws -> Bool {
    while true {
      let page = try view.changes(ofType: type, after: last, limit: QueryLimits.catchUpBatch)
      guard let reached = page.last?.sequence else { return true }
      entries += page.map { IndexEntry(id: $0.id, key: []) }
      last = reached
      if view.slice.isOver { return false }
    }
  }
}

extension IndexEntry {
  /// Whether the entry comes before another in an index: by key, then by id, both in byte order.
  func precedes(_ other: IndexEntry) -> Bool {
    key == other.key ? id < other.id : key.lexicographicallyPrecedes(other.key)
  }
}

extension DocumentRange {
  /// The range in parts that contain no design document, in the range's direction. The ids of design documents start
  /// with "_"; the id of every other document starts with a lower or a higher byte.
  fileprivate var withoutDesigns: [DocumentRange] {
    var (low, high) = (self, self)
    if end.map({ "_".precedesBytes(of: $0) }) ?? true {
      low.end = "_"
      low.includesEnd = false
    }
    if start.map({ $0.precedesBytes(of: "`") }) ?? true { high.start = "`" }
    return descending ? [high, low] : [low, high]
  }

  /// The rest of the range after an id; an ascending rest includes the id itself. Nil when nothing is left.
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
  fileprivate func rest(after position: IndexEntry?) -> IndexRange {
    guard let position else { return self }
    var rest = self
    if descending {
      guard end.map({ position.key.lexicographicallyPrecedes($0) }) ?? true else { return self }
      (rest.end, rest.id) = (position.key, position.id.text)
    } else {
      guard !position.key.lexicographicallyPrecedes(start) else { return self }
      (rest.start, rest.id) = (position.key, position.id.text)
    }
    return rest
  }
}
