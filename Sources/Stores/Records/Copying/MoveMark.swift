/// A mark that a move of all stores leaves where the stores are. No server starts on stores with a mark.
package struct MoveMark: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    /// The stores were moved elsewhere and are in use there.
    case moved
    /// A move to this directory or database has begun and not ended. Stores may be missing.
    case unfinished = "unfinished-move"
  }

  package let kind: Kind
  /// From where or to where the stores move, and when, for people. It never contains a password.
  package let detail: String

  package init(_ kind: Kind, detail: String) {
    self.kind = kind
    self.detail = detail
  }

  /// Why a server can't use stores with this mark.
  /// - Parameter location: where the stores are.
  /// - Parameter removal: how to remove the mark.
  package func reason(at location: String, removal: String) -> String {
    switch kind {
    case .moved:
      "The stores in \(location) were moved \(detail); to use them here nevertheless, \(removal)"
    case .unfinished: "A move into \(location) \(detail) has not ended; run the same move again"
    }
  }
}
