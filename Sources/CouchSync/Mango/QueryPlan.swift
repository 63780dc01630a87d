import Documents
import Stores

/// How a query is served: from which index, which part of it, in which direction.
struct QueryPlan: Sendable {
  /// The part of an index that is walked.
  enum Part: Sendable {
    /// Nothing: no document can match.
    case nothing
    /// Documents with these ids, design documents left out.
    case documents(DocumentRange)
    /// These documents.
    case these([DocumentID])
    /// Documents of this type.
    case type(String)
    /// These keys.
    case keys(IndexRange)
  }

  /// The index.
  let index: QueryIndex
  /// The part.
  let part: Part
  /// Whether the walk goes down.
  let isDescending: Bool
  /// Whether the index's entries tell all that is asked, so that no document need be read.
  var isCovered = false
}
