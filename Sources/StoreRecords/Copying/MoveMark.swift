/// A mark that a move of all stores leaves where the stores are. No server starts on stores with a mark.
package struct MoveMark: Sendable, Equatable {
  /// What the mark says.
  package enum Kind: String, Sendable, CaseIterable {
    /// The stores were moved to another place, which is in use instead.
    case moved
    /// A move to this place has begun and not ended. Stores may be missing.
    case unfinished = "unfinished-move"
  }

  /// What the mark says.
  package let kind: Kind
  /// From where or to where the stores move, and when, for people. It never contains a password.
  package let words: String

  /// Creates a mark.
  package init(_ kind: Kind, words: String) {
    self.kind = kind
    self.words = words
  }

  /// Why a server can't use stores with this mark.
  /// - Parameter place: where the stores are.
  /// - Parameter removal: how to remove the mark.
  package func reason(at place: String, removal: String) -> String {
    switch kind {
    case .moved:
      "The stores in \(place) were moved \(words); to use them here all the same, \(removal)"
    case .unfinished:
      "A move into \(place) \(words) has not ended; run the same move again"
    }
  }
}
