import Documents
import Lanes
import Stores

/// Names of before that the rules for new names would have made others: with wide or narrow characters.
extension AccountStore {
  /// How many of them one commit notes at most.
  private static let notesAtOnce = 100

  /// How far the walk over the names has come.
  private struct Walk: Sendable {
    var last: String?
    var found: [UserName] = []
  }

  /// Looks once at all names, and notes the ones that new names must not equal. Another time it reads one note.
  func noteFormerNames() async throws(AccountError) {
    let isDone = try await read(orAbsent: true) { view throws(StoreError) in
      do throws(StoreError) { return try view.local(AccountKeys.formerNames) != nil } catch {
        // A damaged note is written anew.
        guard error.code == .integrity else { throw error }
        return false
      }
    }
    guard !isDone else { return }
    let found = try await formerNames()
    let note = LocalDocument(revision: 1, body: Array("{}".utf8))
    for start in stride(from: 0, to: found.count, by: Self.notesAtOnce) {
      let names = found[start..<min(start + Self.notesAtOnce, found.count)]
      try await update([]) { (_, _) throws(StoreError) in
        Decision(locals: names.map { LocalEdit(AccountKeys.formerName($0), note) }, value: ())
      }
    }
    try await update([]) { (_, _) throws(StoreError) in
      Decision(locals: [LocalEdit(AccountKeys.formerNames, note)], value: ())
    }
  }

  private func formerNames() async throws(AccountError) -> [UserName] {
    try await stores.withStore(.system, creating: false) { store throws(AccountError) in
      guard let store else { return [] }
      do throws(StoreError) {
        return try await store.read(inSlices: Walk()) { walk, view throws(StoreError) in
          let range = DocumentRange(
            start: walk.last.map { $0 + "\u{0}" } ?? LocalID.userPrefix, end: LocalID.userEnd)
          var isWhole = true
          try view.locals(range) { id, local throws(StoreError) in
            walk.last = id.text
            let name = try? UserName(Credentials(local).name)
            if let mapped = name?.widthMapped { walk.found.append(mapped) }
            isWhole = !Slice.isOver
            return isWhole
          }
          return isWhole ? walk.found : nil
        }
      } catch {
        throw AccountError(error)
      }
    }
  }
}

extension LocalID {
  /// What the ids of users' credentials start with.
  fileprivate static let userPrefix = receiptPrefix + "user:"
  /// The text behind all of them: what follows a colon.
  fileprivate static let userEnd = receiptPrefix + "user;"
}
