import Documents
import JSON
import NIOConcurrencyHelpers
import Scheduling

/// The documents whose commits the ``CommitFollower`` has not followed yet. A commit that concerns it notes them in the
/// store; if the process ends before the follower has, or the follower fails, who opens the store next goes on from
/// the note. Otherwise a conflict would stay until the next edit, because a client that sends its revisions again
/// finds them known.
///
/// The note goes with a later commit of any kind, so that no commit is made for that alone. Until then it names
/// documents of which nothing is left to do.
final class FollowerBacklog: Sendable {
  private static let id = LocalID(receipt: "unfollowed")
  /// The most documents of a note. Further ones wait for the next commit that concerns them.
  private static let limit = 4_096

  /// The followed documents that the store's note may still name.
  private let followed = NIOLockedValueBox<Set<DocumentID>>([])

  /// Records that these documents have been followed.
  func finish(_ ids: [DocumentID]) { followed.withLockedValue { $0.formUnion(ids) } }

  /// Notes in an update the documents that the follower is to follow after it, and removes the followed ones.
  /// - Returns: the followed ones, for ``forget(_:)`` after the commit.
  /// - Throws: the view's errors.
  func note(_ ids: [DocumentID], in changes: inout StoreChanges) throws -> Set<DocumentID> {
    guard !changes.isEmpty else { return [] }
    let done = followed.withLockedValue { $0 }
    guard !ids.isEmpty || !done.isEmpty else { return [] }
    let stored = try Self.ids(in: changes.view)
    let left = Set(stored).subtracting(done).union(ids).sorted().prefix(Self.limit)
    guard !left.elementsEqual(stored) else { return done }
    let body = JSONValue.array(left.map { .string($0.text) }).bytes
    changes.write(
      LocalEdit(Self.id, left.isEmpty ? nil : LocalDocument(revision: 1, body: body)))
    return done
  }

  /// Forgets documents that no note names any more.
  func forget(_ ids: Set<DocumentID>) {
    if !ids.isEmpty { followed.withLockedValue { $0.subtract(ids) } }
  }

  /// The documents of the store's note, in order.
  /// - Throws: the view's errors.
  static func ids(in view: any StoreView) throws -> [DocumentID] {
    guard let note = try view.local(id) else { return [] }
    // A note that can't be read is replaced by the next one.
    let root = try? ParsedJSON(note.body, limits: .stored).root
    return root?.elements.compactMap { $0.string.map { DocumentID(stored: $0) } } ?? []
  }
}

extension DocumentStore {
  /// Follows the commits that nobody followed, before anybody uses the store. An error leaves them to the next time that the
  /// store is opened.
  func followBacklog() async {
    guard !storage.isNew,
      let ids = try? await storage.read({ view in try FollowerBacklog.ids(in: view) }),
      !ids.isEmpty
    else { return }
    await follow(ids, as: .server)
  }

  /// Runs the follower. Its error does not undo the commit.
  func follow(_ ids: [DocumentID], as context: WriteContext) async {
    if (try? await follower.follow(self, ids, context)) != nil { backlog.finish(ids) }
  }
}
