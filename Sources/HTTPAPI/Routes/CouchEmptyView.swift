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
  func local(_ id: LocalID) throws(StoreError) -> LocalDocument? { nil }
  func info() throws(StoreError) -> StoreInfo {
    StoreInfo(
      documentCount: 0, deletedCount: 0, lastSequence: 0, bodyBytes: 0,
      epoch: String(repeating: "0", count: 32))
  }
}
