/// What bookmarking a hotel did.
package enum BookmarkOutcome: Sendable {
  /// The hotel was not bookmarked and is now.
  case created(Bookmark)
  /// The hotel was bookmarked; newer facts of the upstream came into its document.
  case updated(Bookmark)
  /// The hotel was bookmarked; the given facts took the place of all that its document said.
  case replaced(Bookmark)
  /// The hotel was bookmarked with the very same facts; its document is as it was.
  case unchanged(Bookmark)

  /// The bookmark as it is now.
  package var bookmark: Bookmark {
    switch self {
    case .created(let bookmark), .updated(let bookmark), .replaced(let bookmark),
      .unchanged(let bookmark):
      bookmark
    }
  }

  /// Whether the hotel was not bookmarked before.
  package var isCreated: Bool {
    guard case .created = self else { return false }
    return true
  }

  /// Whether given facts took the place of others.
  package var isReplaced: Bool {
    guard case .replaced = self else { return false }
    return true
  }
}
