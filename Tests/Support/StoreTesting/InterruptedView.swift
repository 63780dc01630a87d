import Documents
import Scheduling
import Stores

/// A state of a store that can be read only for a while, as over a connection that is then lost, or with damage. Each slice
/// is over at once.
struct InterruptedView: StoreView {
  /// The error of a reading after the last one that succeeds.
  struct Interruption: Error {}

  /// How many readings still succeed. A class, because a view is not changed by reading. Used by one closure at a time.
  private final class Rest {
    var count: Int
    init(_ count: Int) { self.count = count }
  }

  let slice = Slice.shortest
  private let view: any StoreView
  private let rest: Rest
  private let damaged: Set<String>

  /// Makes a view that shows the same state as another one.
  /// - Parameter count: how many calls and rows succeed.
  /// - Parameter damaged: the ids of documents and local documents that can't be read.
  init(_ view: any StoreView, after count: Int, damaged: Set<String> = []) {
    (self.view, self.damaged) = (view, damaged)
    rest = Rest(count)
  }

  private func check(_ id: String) throws {
    guard !damaged.contains(id) else { throw ServiceError(.integrity, "It can't be read") }
  }

  private func count() throws {
    guard rest.count > 0 else { throw Interruption() }
    rest.count -= 1
  }

  /// A result of the view, unless the interruption comes before it.
  private func one<Value>(_ read: (any StoreView) throws -> Value) throws -> Value {
    try count()
    return try read(view)
  }

  func document(_ id: DocumentID) throws -> Document? {
    try check(id.text)
    return try one { try $0.document(id) }
  }
  func tree(_ id: DocumentID) throws -> RevisionTree? { try one { try $0.tree(id) } }
  func newest(_ id: DocumentID) throws -> RevisionTree? { try one { try $0.newest(id) } }
  func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]? {
    try one { try $0.body(id, revision) }
  }
  func body(
    _ id: DocumentID, of node: RevisionTree.Node, in tree: RevisionTree
  ) throws -> [UInt8]? { try one { try $0.body(id, of: node, in: tree) } }
  func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision? {
    try one { try $0.kept(id, revision) }
  }
  func documents(_ range: DocumentRange, _ visit: (Document) throws -> Bool) throws {
    try one { view in
      try view.documents(range) { document in
        try count()
        try check(document.id.text)
        return try visit(document)
      }
    }
  }
  func changes(after sequence: Int64, limit: Int) throws -> [Change] {
    try one { try $0.changes(after: sequence, limit: limit) }
  }
  func changedDocuments(
    after sequence: Int64, limit: Int, _ visit: (Document) throws -> Bool
  ) throws {
    try one { view in
      try view.changedDocuments(after: sequence, limit: limit) { document in
        try count()
        try check(document.id.text)
        return try visit(document)
      }
    }
  }
  func changes(ofType type: String, after sequence: Int64, limit: Int) throws -> [Change] {
    try one { try $0.changes(ofType: type, after: sequence, limit: limit) }
  }
  func changes(upTo sequence: Int64, limit: Int) throws -> [Change] {
    try one { try $0.changes(upTo: sequence, limit: limit) }
  }
  func changeCount(after sequence: Int64) throws -> Int64 {
    try one { try $0.changeCount(after: sequence) }
  }
  func count(_ range: DocumentRange, among ids: Int) throws -> (count: Int, last: DocumentID?) {
    try one { try $0.count(range, among: ids) }
  }
  func local(_ id: LocalID) throws -> LocalDocument? {
    try check(id.text)
    return try one { try $0.local(id) }
  }
  func allLocals(_ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool) throws {
    try one { view in
      try view.allLocals(range) { id, document in
        try count()
        return try visit(id, damaged.contains(id.text) ? nil : document)
      }
    }
  }
  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64) {
    try one { try $0.localUsage(of: prefix) }
  }
  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID] {
    try one { try $0.expiredLocals(at: moment, limit: limit) }
  }
  func indexedSequence(_ index: IndexID) throws -> Int64? {
    try one { try $0.indexedSequence(index) }
  }
  func indexes() throws -> [IndexID] { try one { try $0.indexes() } }
  func entries(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool
  ) throws {
    try one { view in
      try view.entries(index, range) { entry in
        try count()
        return try visit(entry)
      }
    }
  }
  func fileBytes() throws -> Int64 { try one { try $0.fileBytes() } }
  func holds(moreThan bytes: Int64) throws -> Bool { try one { try $0.holds(moreThan: bytes) } }
  func storedBytes(of id: DocumentID) throws -> Int64 { try one { try $0.storedBytes(of: id) } }
  func info() throws -> StoreInfo { try one { try $0.info() } }
}
