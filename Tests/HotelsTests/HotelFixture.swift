import Documents
import StoreTesting
import Stores
import Synchronization
import TestSupport
import Testing

@testable import Hotels

/// A service over stores in memory, with a clock that the test controls.
struct HotelFixture: Sendable {
  let stores: DatabaseManager
  let service: HotelService
  let clock: TestClock
  let user: StoreName
  let guest: StoreName

  let engine: MemoryEngine

  init(
    over engine: MemoryEngine = MemoryEngine(),
    limits: @escaping @Sendable (StoreName) -> StoreLimits = { .standard(for: $0) },
    follower: CommitFollower = .none
  ) throws {
    self.engine = engine
    let clock = TestClock()
    self.clock = clock
    stores = DatabaseManager(
      engine: engine, maximumOpen: 16, limits: limits, now: { clock.now },
      follower: follower)
    service = HotelService(stores: stores, now: { clock.now })
    user = .user(try #require(AccountID(String(repeating: "a", count: 32))))
    guest = .guest(try #require(AccountID(String(repeating: "b", count: 32))))
  }

  /// A write of the user whose answer is stored.
  func receipt(_ token: String, _ request: UInt8 = 1) throws -> WriteReceipt {
    let owner = try #require(AccountID(String(repeating: "a", count: 32)))
    return WriteReceipt(
      WriteReceipt.Name(owner: owner, token: token), request: [request], in: [user])
  }

  /// Bookmarks a hotel with these facts.
  @discardableResult
  func add(_ text: String, in name: StoreName? = nil) async throws -> BookmarkOutcome {
    try await service.bookmark(HotelAddition(facts: hotel(text)), in: name ?? user, as: .server)
  }

  /// Bookmarks hotels that have only ids, in order.
  func add(ids: String..., in name: StoreName? = nil) async throws {
    for id in ids { try await add(#"{"id":"\#(id)"}"#, in: name) }
  }

  /// The ids of all bookmarks, newest first.
  func ids(in name: StoreName? = nil) async throws -> [String] {
    try await service.bookmarks(in: name ?? user, limit: 200).bookmarks.map(\.id.text)
  }

  /// A document of a store.
  func document(_ id: String, in name: StoreName? = nil) async throws -> Document? {
    try await stores.withExisting(name ?? user) { store in
      try await store.document(DocumentID(stored: id))
    }
  }

  /// The canonical list's body.
  func listText(in name: StoreName? = nil) async throws -> String? {
    try await document("bookmarkedhotels", in: name)?.body.text
  }

  /// Writes a document as a sync client does.
  @discardableResult
  func put(
    _ id: String, _ text: String, base: RevisionID? = nil, in name: StoreName? = nil
  ) async throws -> RevisionID {
    let body = try body(text)
    return try await stores.withStore(name ?? user) { store in
      try await store.put(DocumentID(stored: id), base: base, body: body)
    }
  }

  /// Stores a revision of a peer. `history` is newest first.
  func graft(
    _ id: String, _ history: [String], _ text: String, isDeleted: Bool = false,
    in name: StoreName? = nil, by author: Author = .server
  ) async throws {
    let (id, body) = (DocumentID(stored: id), try body(text))
    let path = try history.map { try RevisionID($0) }
    try await stores.withStore(name ?? user) { store in
      try await store.update(loading: [id], as: WriteContext(author: author)) { changes in
        let tree = try changes.tree(id)
        let mutation = try Edit.insert(
          id, in: tree, history: path, body: body, isDeleted: isDeleted, known: nil)
        changes.write(mutation)
      }
    }
  }

  /// The counts of a store.
  func info(in name: StoreName? = nil) async throws -> StoreInfo {
    try await stores.withExisting(name ?? user) { store in
      try await store.read { view in try view.info() }
    }
  }

  /// A revision's body as text.
  func text(
    _ id: String, _ revision: String, in name: StoreName? = nil
  ) async throws -> String? {
    let revision = try RevisionID(revision)
    return try await stores.withExisting(name ?? user) { store in
      try await store.read { view in
        try view.body(DocumentID(stored: id), revision)
      }
    }?.text
  }

  /// The change feed.
  func changes(in name: StoreName? = nil) async throws -> [Change] {
    try await stores.withExisting(name ?? user) { store in
      try await store.read { view in try view.changes(after: 0, limit: 1_000) }
    }
  }

  /// A document's tree.
  func tree(_ id: String, in name: StoreName? = nil) async throws -> RevisionTree? {
    try await stores.withExisting(name ?? user) { store in
      try await store.read { view in try view.tree(DocumentID(stored: id)) }
    }
  }
}

/// The code of the error that a call throws; nil if it throws none.
func code(of call: () async throws -> Void) async -> ServiceError.Code? {
  do {
    try await call()
    return nil
  } catch {
    return (error as? ServiceError)?.code
  }
}

extension HotelService {
  /// Merges all lists of a store into the canonical one, as every change of bookmarks does first.
  /// - Returns: whether there was anything to merge.
  func reconcile(in name: StoreName) async throws -> Bool {
    try await stores.withStore(name, creating: false) { store in
      try await store?.mergeLists(at: now(), as: .server)
    } ?? false
  }
}
