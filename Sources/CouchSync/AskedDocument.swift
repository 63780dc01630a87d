import Documents
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
  ) throws(StoreError) {
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
  mutating func renew(in view: any StoreView) throws(StoreError) {
    reader = try reader?.renewed(in: view)
  }

  /// What stands for a revision, or for all leaves.
  mutating func targets(of revision: RevisionID?) -> [WantedRevisions.Target] {
    revision.map { wanted.targets(of: $0) } ?? wanted.leaves
  }

  /// A revision as JSON; nil where it is missing.
  mutating func json(
    of target: WantedRevisions.Target, in view: any StoreView
  ) throws(StoreError) -> [UInt8]? {
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
