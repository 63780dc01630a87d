import Scheduling
package import Stores

/// Writes again what was refused for want of room, after room was made.
package enum RefusedRetries {
  /// How many are written after one commit, and after how many failures it is too full for the others.
  private static let (most, mostFailures) = (10, 3)

  /// Tries those of a person's own store that may be tried now, the oldest first.
  /// - Parameter context: that of the commit that made room.
  /// - Throws: the store's errors; `ended`.
  package static func run(in store: DocumentStore, as context: WriteContext) async throws {
    let author: Author
    switch store.name {
    case .guest(let id): author = .guest(id)
    case .user(let id): author = .user(id)
    case .list, .named, .system, .staged: return
    }
    guard let folder = RefusedRevision.folder(of: author),
      try await store.readInline({ view in try view.localUsage(of: folder).count > 0 })
    else { return }
    let database = CouchDatabase(
      name: "", store: store, as: context.repeating(writesOf: author),
      saying: { $0.description })
    let due = try await database.refused().reversed().filter { $0.isDue(at: store.now()) }
    var failures = 0
    for refused in due.prefix(most) where failures < mostFailures {
      do {
        _ = try await database.retry(refused.id, isAutomatic: true, answer: { _ in nil })
      } catch {
        failures += 1
        // Any other error counts as no attempt.
        if ServiceError(error)?.isOfRevision ?? false {
          try await note(refused, by: author, in: store)
        }
      }
      try await Slice.giveWay()
    }
  }

  private static func note(
    _ refused: RefusedRevision, by author: Author, in store: DocumentStore
  ) async throws {
    try await store.update(as: .server) { changes in
      let known = try RefusedRevision.find(refused.id, by: author, in: changes.view)
      // Several commits at once that make room try it at the same time: that is one attempt.
      guard let known, known.revision == refused.revision, known.isDue(at: changes.time) else {
        return
      }
      changes.note(known.retried(at: changes.time), of: author)
    }
  }
}
