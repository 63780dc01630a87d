package import Documents
import Stores

/// What a request requires of a bookmark's present revision.
///
/// Source: RFC 9110 sections 13.1.1 and 13.1.2.
package enum RevisionCondition: Sendable, Equatable {
  /// No requirement.
  case none
  /// One of these revisions is present: `If-Match` with entity-tags.
  case matches([RevisionID])
  /// Any revision is present: `If-Match: *`.
  case exists
  /// The hotel is not bookmarked: `If-None-Match: *`.
  case absent

  /// Compares the condition with the present revision of a note or another thing; nil for none.
  /// - Parameter what: the thing's name in the error message.
  /// - Throws: `precondition`.
  package func check(_ present: RevisionID?, of what: String) throws {
    switch self {
    case .none: return
    case .matches(let revisions):
      guard let present, revisions.contains(present) else {
        throw ServiceError(.precondition, "The \(what)'s revision is not the one in If-Match")
      }
    case .exists:
      guard present != nil else {
        throw ServiceError(.precondition, "There is no such \(what), and If-Match demands one")
      }
    case .absent:
      guard present == nil else {
        throw ServiceError(.precondition, "The \(what) exists, and If-None-Match forbids it")
      }
    }
  }

  /// Compares the condition with the present revision of a bookmark; nil for a hotel that is not bookmarked.
  /// - Throws: `precondition`.
  package func check(_ present: RevisionID?) throws {
    switch self {
    case .none: return
    case .matches: try check(present, of: "bookmark")
    case .exists:
      guard present != nil else {
        throw ServiceError(.precondition, "The hotel is not bookmarked, and If-Match demands it")
      }
    case .absent:
      guard present == nil else {
        throw ServiceError(.precondition, "The hotel is bookmarked, and If-None-Match forbids it")
      }
    }
  }

  /// Compares the condition with the winner of any document, which may be a tombstone.
  /// - Throws: `precondition`.
  func check(document winner: RevisionTree.Node) throws {
    let isMet =
      switch self {
      case .none: true
      case .matches(let revisions): revisions.contains(winner.revision)
      case .exists: !winner.isDeleted
      case .absent: winner.isDeleted
      }
    guard isMet else {
      throw ServiceError(
        .precondition, "The document's revision is \(winner.revision), not the one asked for")
    }
  }
}
