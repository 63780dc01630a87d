import Documents
import JSON
import NIOConcurrencyHelpers
import Scheduling

/// The documents whose commits the ``CommitFollower`` has not followed yet. A commit that concerns it notes them in the
/// store; if the process ends before the follower has, or the follower fails, who opens the store next goes on from
/// the note. Otherwise a conflict would stay until the next edit, because a client that sends its revisions again
/// finds them known.
///
/// Each commit has a number of its own in the note, so that what was followed after an earlier commit of a document is
/// not taken for what is owed after a later one. The note goes with a later commit of any kind, so that no commit is
/// made for that alone. Until then it names documents of which nothing is left to do.
final class FollowerBacklog: Sendable {
  /// Documents, each with the number of its last commit that concerns the follower.
  typealias Owed = [DocumentID: Int]

  private static let id = LocalID(receipt: "unfollowed")
  /// The most documents of a note. Further ones wait for the next commit that concerns them.
  private static let limit = 4_096

  /// What was followed and the store's note may still name.
  private let followed = NIOLockedValueBox<Owed>([:])

  /// A number for one commit.
  static func newNumber() -> Int { Int.random(in: 1..<1 << 53) }

  /// Records that these documents have been followed after those commits.
  func finish(_ owed: Owed) { followed.withLockedValue { $0.merge(owed) { $1 } } }

  /// Notes in an update the documents that the follower is to follow after it, and removes the followed ones.
  /// - Returns: the followed ones, for ``forget(_:)`` after the commit.
  /// - Throws: the view's errors.
  func note(_ ids: [DocumentID], _ number: Int, in changes: inout StoreChanges) throws -> Owed {
    guard !changes.isEmpty else { return [:] }
    let done = followed.withLockedValue { $0 }
    if !ids.isEmpty || !done.isEmpty {
      try Self.write(ids, number, without: done, in: &changes)
    }
    return done
  }

  /// Removes followed documents from the store's note.
  static func remove(_ done: Owed, in changes: inout StoreChanges) throws {
    try write([], 0, without: done, in: &changes)
  }

  private static func write(
    _ ids: [DocumentID], _ number: Int, without done: Owed, in changes: inout StoreChanges
  ) throws {
    let stored = try owed(in: changes.view)
    var left = stored.filter { done[$0.key] != $0.value }
    for id in ids where left[id] != nil || left.count < limit { left[id] = number }
    guard left != stored else { return }
    var writer = JSONWriter()
    writer.beginObject()
    for (id, number) in left { writer.member(id.text, number) }
    writer.endObject()
    let note = LocalDocument(revision: 1, body: writer.bytes)
    changes.write(LocalEdit(id, left.isEmpty ? nil : note))
  }

  /// Forgets what no note names any more.
  func forget(_ done: Owed) {
    guard !done.isEmpty else { return }
    followed.withLockedValue { followed in
      for (id, number) in done where followed[id] == number { followed[id] = nil }
    }
  }

  /// What the store's note names.
  /// - Throws: the view's errors.
  static func owed(in view: any StoreView) throws -> Owed {
    // A note that can't be read is replaced by the next one.
    guard let note = try view.local(id),
      let root = try? ParsedJSON(note.body, limits: .stored).root
    else { return [:] }
    var owed: Owed = [:]
    for member in root.members {
      if let number = member.value.int { owed[DocumentID(stored: member.name)] = number }
    }
    return owed
  }
}

extension DocumentStore {
  /// How many documents are followed at once.
  private static var followedAtOnce: Int { 64 }

  /// Follows the first of the commits that nobody followed. An error leaves them to the next time that the store is opened.
  /// - Returns: whether some are left that can be followed now.
  func followBacklog() async -> Bool {
    guard !storage.isNew,
      let owed = try? await storage.read({ view in try FollowerBacklog.owed(in: view) }),
      !owed.isEmpty
    else { return false }
    let some = owed.sorted { $0.key < $1.key }.prefix(Self.followedAtOnce)
    let part = FollowerBacklog.Owed(uniqueKeysWithValues: some.map { ($0.key, $0.value) })
    guard await follow(part, as: .server) else { return false }
    do {
      try await update(as: .server) { changes in try FollowerBacklog.remove(part, in: &changes) }
    } catch { return false }
    return part.count < owed.count
  }

  /// Runs the follower. Its error does not undo the commits.
  /// - Returns: whether it has come to its end.
  @discardableResult
  func follow(_ owed: FollowerBacklog.Owed, as context: WriteContext) async -> Bool {
    do { try await follower.follow(self, owed.keys.sorted(), context) } catch { return false }
    backlog.finish(owed)
    return true
  }
}
