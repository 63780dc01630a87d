package import Documents

/// A rule that follows commits into any store, whatever route they took: where a commit concerns it, it
/// runs before the commit is acknowledged, and may commit more.
package struct CommitFollower: Sendable {
  /// Whether a mutation concerns it. Asked inside the transaction, so it must be quick; what it commits
  /// itself must not concern it for ever.
  package let concerns: @Sendable (Mutation) -> Bool
  /// Runs after such a commit. What it throws is left to the next time: the commit before it stands.
  package let follow: @Sendable (DocumentStore) async throws(StoreError) -> Void

  /// A rule that follows commits.
  package init(
    concerns: @escaping @Sendable (Mutation) -> Bool,
    follow: @escaping @Sendable (DocumentStore) async throws(StoreError) -> Void
  ) {
    self.concerns = concerns
    self.follow = follow
  }

  /// None.
  package static let none = CommitFollower(concerns: { _ in false }, follow: { _ in })
}
