import Documents
import JSON
import Lanes
import Stores

/// One document that `_bulk_get` asks for, read once for all elements that name it.
struct AskedDocument: Sendable {
  private let id: String
  private var reader: DocumentReader?
  private var wanted: WantedRevisions
  /// What was read already; nil for a revision that is missing.
  private var known: [RevisionID: [UInt8]?] = [:]
  private let isNamedAgain: Bool

  /// Reads a document.
  /// - Parameter entries: the elements that name it.
  init(
    _ id: String, _ entries: [BulkGetRequest.Entry], _ request: BulkGetRequest,
    in view: any StoreView
  ) throws {
    self.id = id
    reader = try DocumentReader(
      DocumentID(stored: id), in: view, extras: request.extras, needsTree: true)
    wanted = WantedRevisions(
      entries.compactMap(\.revision), by: reader, latest: request.latest)
    isNamedAgain = entries.count > 1
  }

  /// Whether an element is about this document.
  func isOf(_ id: String) -> Bool { self.id.equalsBytes(of: id) }

  /// Reads the document again where a later state of the store has it changed.
  mutating func renew(in view: any StoreView) throws {
    reader = try reader?.renewed(in: view)
  }

  /// What stands for a revision, or for all leaves.
  mutating func targets(of revision: RevisionID?) -> [WantedRevisions.Target] {
    revision.map { wanted.targets(of: $0) } ?? wanted.leaves
  }

  /// A revision as JSON; nil where it is missing.
  mutating func json(
    of target: WantedRevisions.Target, in view: any StoreView
  ) throws -> [UInt8]? {
    if isNamedAgain, let known = known[target.revision] { return known }
    let bytes = try reader?.revision(target.revision, at: target.place, in: view)
    if isNamedAgain { known[target.revision] = .some(bytes) }
    return bytes
  }
}

extension BulkGetRequest {
  /// The places of the elements, those of one document beside each other in the order of the request; nil where
  /// they stand so already.
  var orderByDocument: [Int]? {
    guard entries.count > 2 else { return nil }
    var numbers: [DocumentID: Int] = Dictionary(minimumCapacity: entries.count)
    var ranks: [Int] = []
    ranks.reserveCapacity(entries.count)
    var isInOrder = true
    for (place, entry) in entries.enumerated() {
      var rank = place
      if let id = entry.id.map(DocumentID.init(stored:)) {
        rank = numbers[id] ?? place
        if rank == place { numbers[id] = place }
      }
      isInOrder = isInOrder && rank >= ranks.last ?? 0
      ranks.append(rank)
    }
    return isInOrder ? nil : entries.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
  }

  /// The elements from one on that name a document, as far as they are beside each other.
  func entries(of id: String, from first: Int, in order: [Int]?) -> [Entry] {
    var found: [Entry] = []
    for count in first..<entries.count {
      let entry = entries[order?[count] ?? count]
      guard entry.id?.equalsBytes(of: id) == true else { break }
      found.append(entry)
    }
    return found
  }
}

/// The keys that `_all_docs` is asked for, one by one in the order of their rows.
struct AskedKeys: Sendable {
  private let list: JSONNode?
  private var elements: JSONElements?
  /// Where the keys stand that were passed over on the way to the last one; nil for the order of the list.
  private var positions: [UInt64]?
  private var skip: Int
  private var left: Int

  /// The keys of a query; none where a range is walked over.
  init(_ query: AllDocumentsQuery) {
    list = query.keys
    elements = query.keys?.elements
    positions = query.descending ? [] : nil
    skip = query.skip
    left = query.limit ?? .max
  }

  /// Whether there may be another key.
  var hasMore: Bool { list != nil && left > 0 }

  /// Gets ready for the first key, until the slice is over.
  /// - Returns: whether it is.
  mutating func prepare() -> Bool {
    guard hasMore else { return true }
    if positions == nil {
      while skip > 0 {
        guard elements?.next() != nil else {
          left = 0
          return true
        }
        skip -= 1
        if Slice.isOver { return skip == 0 }
      }
      return true
    }
    while let element = elements?.next() {
      positions?.append(element.position)
      if Slice.isOver { return false }
    }
    let known = positions?.count ?? 0
    positions?.removeLast(min(skip, known))
    skip = 0
    return true
  }

  /// The next key; nil behind the last.
  mutating func next() -> JSONNode? {
    guard hasMore else { return nil }
    left -= 1
    let key: JSONNode?
    if let position = positions?.popLast() {
      key = list?.value(at: position)
    } else {
      key = positions == nil ? elements?.next() : nil
    }
    if key == nil { left = 0 }
    return key
  }
}
