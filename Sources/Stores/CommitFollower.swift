package import Documents

/// A rule that follows commits into any store, whatever route they took: where a commit concerns it, it
/// runs before the commit is acknowledged, and may commit more.
package struct CommitFollower: Sendable {
  /// Whether a mutation concerns it. Asked inside the transaction, so it must be quick; what it commits
  /// itself must not concern it for ever.
  package let concerns: @Sendable (Mutation) -> Bool
  /// Runs after such a commit, with the documents that concern it. What it throws is left to the next time: the commit before it stands.
  package let follow: @Sendable (DocumentStore, [DocumentID]) async throws(StoreError) -> Void
  /// Puts together again what can be derived, after revisions were lost to damage.
  package let restore: @Sendable (DocumentStore, [Damage]) async throws(StoreError) -> Void

  /// A rule that follows commits.
  package init(
    concerns: @escaping @Sendable (Mutation) -> Bool,
    follow: @escaping @Sendable (DocumentStore, [DocumentID]) async throws(StoreError) -> Void,
    restore: @escaping @Sendable (DocumentStore, [Damage]) async throws(StoreError) -> Void = {
      _, _ in
    }
  ) {
    self.concerns = concerns
    self.follow = follow
    self.restore = restore
  }

  /// None.
  package static let none = CommitFollower(concerns: { _ in false }, follow: { _, _ in })
}
