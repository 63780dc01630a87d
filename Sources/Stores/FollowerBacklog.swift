import Documents
import NIOConcurrencyHelpers

/// The documents whose commits the ``CommitFollower`` has not followed yet. A commit that concerns it leaves a note for
/// each of them in the store; if the process ends before the follower has, or the follower fails, who opens the store
/// next goes on from the notes. Otherwise a conflict would stay until the next edit, because a client that sends its
/// revisions again finds them known.
///
/// The id of a note has the number of its commit, so that what was followed after an earlier commit of a document is not
/// taken for what is owed after a later one, and so that nothing is read to remove it. Notes go with later commits of any
/// kind, so that no commit is made for that alone. Until then they name documents of which nothing is left to do.
final class FollowerBacklog: Sendable {
  /// A document that is to be followed after a commit.
  struct Entry: Hashable {
    let id: DocumentID
    /// The commit's number. Notes are read in the order of their numbers.
    let number: UInt64

    /// The id of the note: the number in 16 digits, and the document's id.
    fileprivate var note: LocalID {
      let digits = String(number, radix: 16)
      let zeros = String(repeating: "0", count: 16 - digits.count)
      return LocalID(stored: FollowerBacklog.folder + zeros + digits + "/" + id.text)
    }
  }

  fileprivate static let folder = LocalID.receiptPrefix + "unfollowed/"
  /// How many notes are read at a time, and are removed by one commit, at most; by one that makes notes, twice as many as
  /// it makes. So there are never many more than those of the last commits.
  fileprivate static let most = 64

  /// What was followed and still has notes.
  private let followed = NIOLockedValueBox<Set<Entry>>([])

  /// The entries of a commit.
  static func entries(_ ids: [DocumentID]) -> [Entry] {
    guard !ids.isEmpty else { return [] }
    let number = UInt64.random(in: 0...UInt64.max)
    return ids.map { Entry(id: $0, number: number) }
  }

  static func ids(of entries: [Entry]) -> [DocumentID] { Set(entries.map(\.id)).sorted() }

  /// Records that these have been followed.
  func finish(_ entries: [Entry]) { followed.withLockedValue { $0.formUnion(entries) } }

  /// Notes in an update what the follower is to follow after it, and removes notes of what was followed.
  /// - Returns: the removed ones, for ``forget(_:)`` after the commit.
  func note(_ entries: [Entry], in changes: inout StoreChanges) -> [Entry] {
    guard !changes.isEmpty else { return [] }
    let done = followed.withLockedValue { Array($0.prefix(max(Self.most, 2 * entries.count))) }
    for entry in done { changes.write(LocalEdit(entry.note, nil)) }
    for entry in entries {
      changes.write(LocalEdit(entry.note, LocalDocument(revision: 1, body: Array("{}".utf8))))
    }
    return done
  }

  /// Forgets what has no note any more.
  func forget(_ done: [Entry]) {
    if !done.isEmpty { followed.withLockedValue { $0.subtract(done) } }
  }

  /// The first entries that a store has notes of.
  /// - Throws: the view's errors.
  static func owed(in view: any StoreView) throws -> [Entry] {
    try view.localValues(.below(folder), atMost: most) { note, _ in
      let parts = note.text.dropFirst(folder.count).split(separator: "/", maxSplits: 1)
      guard let first = parts.first, let number = UInt64(first, radix: 16), parts.count == 2
      else { return nil }
      return Entry(id: DocumentID(stored: String(parts[1])), number: number)
    }
  }
}

extension DocumentStore {
  /// Follows the first of the commits that nobody followed. An error leaves them to the next time that the store is
  /// opened.
  /// - Returns: whether there may be more that can be followed now.
  func followBacklog() async -> Bool {
    guard !storage.isNew,
      let owed = try? await storage.read({ view in try FollowerBacklog.owed(in: view) }),
      !owed.isEmpty
    else { return false }
    do {
      try await follower.follow(self, FollowerBacklog.ids(of: owed), .server)
      try await update(as: .server) { changes in
        for entry in owed { changes.write(LocalEdit(entry.note, nil)) }
      }
    } catch { return false }
    return true
  }

  /// Runs the follower after a commit. Its error does not undo the commit.
  func follow(_ owed: [FollowerBacklog.Entry], as context: WriteContext) async {
    do { try await follower.follow(self, FollowerBacklog.ids(of: owed), context) } catch { return }
    backlog.finish(owed)
  }
}
