import Documents
import Stores

/// The one state of a store that is not there.
struct CouchEmptyView: StoreView {
  func document(_ id: DocumentID) throws(StoreError) -> Document? { nil }
  func tree(_ id: DocumentID) throws(StoreError) -> RevisionTree? { nil }
  func body(_ id: DocumentID, _ revision: RevisionID) throws(StoreError) -> [UInt8]? { nil }
  func documents(
    _ range: DocumentRange, _ visit: (Document) throws(StoreError) -> Bool
  ) throws(StoreError) {}
  func ids(ofType type: String) throws(StoreError) -> [DocumentID] { [] }
  func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [Change] { [] }
  func changes(upTo sequence: Int64, limit: Int) throws(StoreError) -> [Change] { [] }
  func changeCount(after sequence: Int64) throws(StoreError) -> Int64 { 0 }
  func count(_ range: DocumentRange) throws(StoreError) -> Int64 { 0 }
  func locals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument) throws(StoreError) -> Bool
  ) throws(StoreError) {}
  func localUsage(of prefix: String) throws(StoreError) -> (count: Int64, bytes: Int64) { (0, 0) }
  func indexedSequence(_ index: IndexID) throws(StoreError) -> Int64? { nil }
  func indexes() throws(StoreError) -> [IndexID] { [] }
  func entries(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws(StoreError) -> Bool
  ) throws(StoreError) {}
  func local(_ id: LocalID) throws(StoreError) -> LocalDocument? { nil }
  func fileBytes() throws(StoreError) -> Int64 { 0 }
  func holds(moreThan bytes: Int64) throws(StoreError) -> Bool { false }
  func storedBytes(of id: DocumentID) throws(StoreError) -> Int64 { 0 }
  func info() throws(StoreError) -> StoreInfo {
    StoreInfo(
      documentCount: 0, deletedCount: 0, lastSequence: 0, bodyBytes: 0,
      epoch: String(repeating: "0", count: 32))
  }
}
