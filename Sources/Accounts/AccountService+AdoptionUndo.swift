package import Documents
package import Stores

/// Undoing an adoption, which changes two stores. A record of it is stored before it begins and removed when it is
/// complete, so that the next start finishes an interrupted undo.
extension AccountService {
  /// Undoes the adoption of a guest's data and gives the guest back: its tokens work again, and its store has what it had.
  /// - Parameter takeBack: removes the data from the user's store; can be repeated safely.
  /// - Throws: what `takeBack` throws; the stores' errors. After an error, another call or the next start finishes
  ///   the undo.
  package func undoAdoption(
    of guest: AccountID, by person: Principal, as context: WriteContext,
    answer: Answering<Void>? = nil, _ takeBack: () async throws -> Void
  ) async throws {
    let account = AccountKeys.user(try UserName(given: person.username ?? ""))
    try await accounts.noteUndo(of: guest, by: account, id: person.id, at: now(), as: context)
    try await finishUndo(
      of: guest, by: account, id: person.id, as: context, answer: answer, takeBack)
  }

  /// Finishes the undos that were interrupted when the service stopped. Runs at every start.
  /// - Parameter limit: if other processes undo, too: an undo that began later is left alone.
  /// - Parameter takeBack: removes a guest's data from a user's store.
  /// - Returns: the failures.
  /// - Throws: the system store's errors.
  package func finishUndos(
    begunBefore limit: Timestamp? = nil,
    _ takeBack: (_ guest: AccountID, _ user: AccountID) async throws -> Void
  ) async throws -> [any Error] {
    let (begun, unreadable) = try await accounts.begunUndos(before: limit)
    var failures: [any Error] = unreadable == 0 ? [] : [AccountStore.unreadable("an undo's")]
    for undo in begun {
      do {
        try await finishUndo(of: undo.guest, by: undo.account, id: undo.user, as: .server) {
          try await takeBack(undo.guest, undo.user)
        }
      } catch {
        if !Self.isRefusal(error) { failures.append(error) }
      }
    }
    return failures
  }

  private func finishUndo(
    of guest: AccountID, by account: DocumentID, id: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil, _ takeBack: () async throws -> Void
  ) async throws {
    do { try await takeBack() } catch {
      // There is nothing to undo, or the time for it is over.
      if Self.isRefusal(error) { try await accounts.dropUndo(of: guest, as: context) }
      throw error
    }
    try await accounts.release(guest, by: account, id: id, as: context, answer: answer)
  }

  private static func isRefusal(_ error: any Error) -> Bool {
    [.missing, .undoOver].contains(ServiceError(error)?.code)
  }
}

/// The record of an undo in progress: the local document `adoption-undo/<guest>`, `{"user","account","at"}`.
/// `account` is the id of the account's document, which does not reveal the user name; `at` is in milliseconds.
enum UndoNote {
  private static let prefix = "adoption-undo/"

  static func id(of guest: AccountID) -> LocalID { LocalID(receipt: prefix + guest.text) }

  static let range = DocumentRange.below(LocalID(receipt: prefix).text)

  static func guest(of id: LocalID) -> AccountID? {
    AccountID(String(decoding: id.text.utf8.suffix(32), as: UTF8.self))
  }
}

extension AccountStore {
  struct BegunUndo: Sendable {
    let guest: AccountID
    let account: DocumentID
    let user: AccountID
  }

  /// Records that a guest's data is to be removed again. Does nothing when that user has not adopted the guest.
  fileprivate func noteUndo(
    of guest: AccountID, by account: DocumentID, id: AccountID, at now: Timestamp,
    as context: WriteContext
  ) async throws {
    let body: JSONValue = [
      "user": .string(id.text), "account": .string(account.text),
      "at": .number(JSONNumber(Int(now.milliseconds))),
    ]
    try await stores.update(.system, loading: [AccountKeys.guest(guest)], as: context) { changes in
      guard try Self.claim(of: guest, by: id, in: changes.view) != nil else { return }
      changes.write(LocalEdit(UndoNote.id(of: guest), LocalDocument(revision: 1, body: body.bytes)))
    }
  }

  fileprivate func dropUndo(of guest: AccountID, as context: WriteContext) async throws {
    try await stores.update(.system, as: context) { changes in
      changes.write(LocalEdit(UndoNote.id(of: guest), nil))
    }
  }

  /// - Returns: the undos, and how many records of undos can't be read.
  fileprivate func begunUndos(
    before limit: Timestamp?
  ) async throws -> (values: [BegunUndo], unreadable: Int) {
    try await read(orAbsent: ([], 0)) { view in
      try view.readableLocals(UndoNote.range) { id, note -> BegunUndo? in
        let root = try Self.root(of: note.body)
        if let limit, limit.milliseconds <= Int64(root["at"]?.int ?? 0) { return nil }
        guard let guest = UndoNote.guest(of: id), let account = root["account"]?.string,
          let user = root["user"]?.string.flatMap(AccountID.init)
        else { return nil }
        return BegunUndo(guest: guest, account: DocumentID(stored: account), user: user)
      }
    }
  }

  /// Ends an account's claim of a guest, whose tokens work again then, and deletes the record of the undo. Does nothing
  /// when that user has not adopted the guest.
  fileprivate func release(
    _ guest: AccountID, by userID: DocumentID, id: AccountID, as context: WriteContext,
    answer: Answering<Void>?
  ) async throws {
    let guestID = AccountKeys.guest(guest)
    try await stores.update(
      .system, loading: [userID, guestID], as: context, answer: answer
    ) { changes in
      guard try Self.claim(of: guest, by: id, in: changes.view) != nil else { return }
      changes.write(LocalEdit(UndoNote.id(of: guest), nil))
      // Nothing remains of the claim: a guest is known only while a user has it, or after its erasure.
      changes.purge(Purge(id: guestID, tree: RevisionTree(), leavesMarks: false))
      try changes.endAdoption(of: guest, by: userID, id: id)
    }
  }
}
