package import Documents

/// A rule that runs after commits to any store. If a commit concerns it, it runs before the commit is
/// acknowledged, and may commit more.
package struct CommitFollower: Sendable {
  /// Whether a mutation concerns the rule. Called inside the transaction, so it must be quick. The rule's own
  /// commits must not concern it without end.
  package let concerns: @Sendable (Mutation) -> Bool
  /// Runs after a commit with the documents that concern the rule. After an error the rest is done after the
  /// next such commit, or when the store is opened next (``FollowerBacklog``); the first commit is not undone. It
  /// writes in the context that it gets.
  package let follow: @Sendable (DocumentStore, [DocumentID], WriteContext) async throws -> Void
  /// Restores what can be computed from other documents, after damage has destroyed revisions.
  package let restore: @Sendable (DocumentStore, [Damage]) async throws -> Void
  /// Runs after a commit that deleted documents or purged revisions, so that there may be room for what was refused. An
  /// error does not undo the commit.
  package var useRoom: @Sendable (DocumentStore, WriteContext) async throws -> Void = { _, _ in }

  package init(
    concerns: @escaping @Sendable (Mutation) -> Bool,
    follow: @escaping @Sendable (DocumentStore, [DocumentID], WriteContext) async throws -> Void,
    restore: @escaping @Sendable (DocumentStore, [Damage]) async throws -> Void = {
      _, _ in
    }
  ) {
    self.concerns = concerns
    self.follow = follow
    self.restore = restore
  }

  /// A rule that no commit concerns.
  package static let none = CommitFollower(concerns: { _ in false }, follow: { _, _, _ in })
}
