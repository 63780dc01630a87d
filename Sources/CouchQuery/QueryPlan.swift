package import Documents
package import Stores

/// How a query is executed: which index, which part of it, in which direction.
package struct QueryPlan: Sendable {
  /// The part of an index that is read.
  package enum Part: Sendable {
    /// Nothing: no document can match.
    case nothing
    /// The documents in a range of ids, without design documents.
    case documents(DocumentRange)
    case these([DocumentID])
    case type(String)
    case keys(IndexRange)
  }

  package let index: QueryIndex
  package let part: Part
  package let isDescending: Bool
  /// Whether the index's entries contain all requested fields, so that no document is read.
  package var isCovered = false

  package init(index: QueryIndex, part: Part, isDescending: Bool, isCovered: Bool = false) {
    self.index = index
    self.part = part
    self.isDescending = isDescending
    self.isCovered = isCovered
  }
}
