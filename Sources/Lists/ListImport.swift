import Accounts
import Documents
import JSON
import NIOConcurrencyHelpers
package import Stores

/// The shared lists of an import on their way: stores that nobody knows yet, each with a note to erase it.
///
/// The import's last step makes the account's own store what was read, with a mark in it (``mark``). Before it, the system
/// store notes the lists with the same mark; so whoever finds that note later (``ListService/finishImport(of:)``) knows
/// whether the lists are to be known or to go.
package final class ListImport: Sendable {
  /// The local document of the account's own store that tells which import has filled it.
  private static let markID = LocalID(receipt: "imported")

  private let lists: ListService
  private let owner: ListMember
  private let mark: [UInt8]
  private let made = NIOLockedValueBox<[AccountID]>([])

  /// An import that has no list yet.
  package init(_ lists: ListService, for owner: ListMember) {
    self.lists = lists
    self.owner = owner
    var generator = SystemRandomNumberGenerator()
    mark = Array(AccountID.random(using: &generator).text.utf8)
  }

  /// Makes a store for a list.
  /// - Parameter former: the list's id in the export; here it gets another one.
  /// - Throws: `quotaExceeded` for more lists than an account may be on.
  package func target(of former: AccountID) async throws -> ImportTarget {
    guard made.withLockedValue({ $0.count < ListLimits.perAccount }) else {
      throw ServiceError(
        .quotaExceeded, "An account is on at most \(ListLimits.perAccount) lists")
    }
    var generator = SystemRandomNumberGenerator()
    let list = AccountID.random(using: &generator)
    made.withLockedValue { $0.append(list) }
    try await lists.directory.update { changes in try changes.noteErasure(of: .list(list)) }
    try await lists.stores.withStore(.list(list)) { _ in }
    return ImportTarget(list: list, calledBefore: former, in: lists.stores)
  }

  /// Notes the lists and marks the store that is to become the account's own; the last thing before it does.
  package func prepare(_ own: DocumentStore) async throws {
    let (made, mark, owner, now) = (made.withLockedValue { $0 }, mark, owner, lists.now())
    try await lists.directory.update { changes in
      changes.note(
        ListKeys.imported(by: owner.account),
        [
          "mark": .string(String(decoding: mark, as: UTF8.self)),
          "username": .string(owner.username), "at": .time(now),
          "lists": .array(made.map { .string($0.text) }),
        ])
    }
    try await own.update { changes in
      changes.write(LocalEdit(Self.markID, LocalDocument(revision: 1, body: mark)))
    }
  }

  /// Makes the lists known, or lets them go where the account's own store is not what was read.
  package func finish() async throws {
    try await lists.finishImport(of: owner.account)
    // Of an import that ended before anything was noted.
    let made = made.withLockedValue { $0 }
    for list in made where try await lists.directory.head(of: list) == nil {
      try await lists.accounts.erase(store: .list(list))
    }
  }

  /// The mark of an account's own store; nil for one that no import has filled.
  static func mark(of account: AccountID, in stores: DatabaseManager) async throws -> [UInt8]? {
    try await stores.withStore(.user(account), creating: false) { store in
      try await store?.readInline { view in try view.local(markID)?.body } ?? nil
    }
  }
}

extension ListService {
  /// Ends an import of an account, if one is noted.
  func finishImport(of account: AccountID) async throws {
    let id = ListKeys.imported(by: account)
    let note = try await directory.read(orAbsent: nil) { view in
      try view.local(id).map(ListDirectory.root)?.value
    }
    guard let note else { return }
    let lists = (note["lists"]?.array ?? []).compactMap { $0.string.flatMap(AccountID.init) }
    let mark = Array((note["mark"]?.string ?? "").utf8)
    let name = note["username"]?.string ?? ""
    let at = Timestamp(milliseconds: Int64(note["at"]?.int ?? 0))
    let isFilled = try await ListImport.mark(of: account, in: stores) == mark
    let isDone = try await directory.update { changes in
      let isDone = try isFilled && changes.hasUser(account, named: name)
      if isDone {
        for list in lists {
          try changes.makeList(list, ownedBy: account, name, at: at)
          try changes.dropErasure(of: .list(list))
        }
      }
      changes.write(LocalEdit(id, nil))
      return isDone
    }
    for list in lists {
      if isDone { try await show(list) } else { try await accounts.erase(store: .list(list)) }
    }
  }

  /// Ends the imports that a stop has left; once at every start, before stores that are noted to be erased are.
  /// - Returns: what could not be done.
  package func finishImports() async throws -> [any Error] {
    let importers: [AccountID] = try await directory.read(orAbsent: []) { view in
      var importers: [AccountID] = []
      try view.locals(ListKeys.range(ListKeys.importedPrefix)) { id, _ in
        if let account = ListKeys.last(of: id) { importers.append(account) }
        return true
      }
      return importers
    }
    var failures: [any Error] = []
    for account in importers {
      do { try await finishImport(of: account) } catch { failures.append(error) }
    }
    return failures
  }
}
