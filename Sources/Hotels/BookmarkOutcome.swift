/// What bookmarking a hotel did.
package enum BookmarkOutcome: Sendable {
  /// The hotel was not bookmarked and is now.
  case created(Bookmark)
  /// The hotel was bookmarked; its document has a new revision, the list is as it was.
  case updated(Bookmark)
  /// The hotel was bookmarked with the very same facts; nothing was written.
  case unchanged(Bookmark)

  /// The bookmark as it is now.
  package var bookmark: Bookmark {
    switch self {
    case .created(let bookmark), .updated(let bookmark), .unchanged(let bookmark): bookmark
    }
  }

  /// Whether the hotel was not bookmarked before.
  package var isCreated: Bool {
    guard case .created = self else { return false }
    return true
  }
}
