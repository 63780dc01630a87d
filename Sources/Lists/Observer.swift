package import Documents
import JSON
import Lanes
package import Stores

/// One thing that an observer is told.
package struct ObserverEvent: Sendable {
  /// What kind of thing.
  package enum Name: String, Sendable {
    /// A document of the own store or of a list was written or deleted.
    case change
    /// A draft of one's own was written, published or thrown away.
    case draft
    /// The observer is on a list from now on, or has another role there.
    case joined
    /// The observer is on a list no longer, or the list has ended.
    case left
    /// A backup was brought back, or deletions that were not told have been forgotten: what was told before may not
    /// hold, and the whole state follows.
    case rewound
  }

  /// What kind of thing.
  package let name: Name
  /// An object in JSON, on one line.
  package let data: [UInt8]
  /// Where to go on after it.
  package let token: String
}

/// What somebody observes of their own store and of the lists that they are on: a value that reads on from where it has
/// come to, and is told by others when there is something to read.
package struct Observer: Sendable {
  /// What is told of all that changes.
  package struct Filter: Sendable {
    /// Only this document; nil for any.
    package let id: DocumentID?
    /// Only documents whose body has this `type`, or had it before they were deleted; nil for any.
    package let type: String?
    /// Only this list; nil for the own store and all lists.
    package let list: AccountID?

    /// What is asked for.
    package init(id: DocumentID? = nil, type: String? = nil, list: AccountID? = nil) {
      (self.id, self.type, self.list) = (id, type, list)
    }
  }

  /// Changes of a page at most.
  static let pageChanges = 100
  /// Bytes of bodies after which a page ends: 256 KiB.
  static let pageBytes = 256 << 10

  let lists: ListService
  /// Whose lists; nil for a guest, who is on none.
  let account: AccountID?
  /// The observer's own store.
  package let own: StoreName
  let filter: Filter
  var token: ObserverToken
  /// What the observer is to its lists, as far as it was told.
  private var roles: [AccountID: ListRole] = [:]
  /// The last old tombstone that each store had forgotten when this stream read it last.
  private var forgotten: [StoreName: Int64] = [:]

  private init(
    _ lists: ListService, account: AccountID?, own: StoreName, _ filter: Filter,
    _ token: ObserverToken
  ) {
    (self.lists, self.account, self.own) = (lists, account, own)
    (self.filter, self.token) = (filter, token)
  }

  /// An observer that begins with what changes from now on.
  /// - Throws: `absent` where the one list that is asked for is absent, or the account is not on it.
  package static func fromNow(
    _ lists: ListService, account: AccountID?, own: StoreName, _ filter: Filter
  ) async throws -> Observer {
    var observer = Observer(
      lists, account: account, own: own, filter, ObserverToken(own: .absent))
    observer.token.own = try await observer.end(of: own)
    for list in try await observer.memberships().keys {
      observer.token.lists[list] = try await observer.end(of: .list(list))
    }
    try observer.requireList()
    return observer
  }

  /// An observer that goes on after an event.
  /// - Throws: as ``fromNow(_:account:own:_:)``.
  package static func going(
    on token: ObserverToken, _ lists: ListService, account: AccountID?, own: StoreName,
    _ filter: Filter
  ) async throws -> Observer {
    var observer = Observer(lists, account: account, own: own, filter, token)
    guard let list = filter.list else { return observer }
    // The event may be one of a stream that had other lists.
    observer.token.lists = token.lists.filter { $0.key == list }
    if observer.token.lists.isEmpty, try await observer.memberships().isEmpty {
      throw ServiceError.absent
    }
    return observer
  }

  /// An observer that begins with the state: everything there is counts as changed.
  package static func fromStart(
    _ lists: ListService, account: AccountID?, own: StoreName, _ filter: Filter
  ) async throws -> Observer {
    var observer = try await fromNow(lists, account: account, own: own, filter)
    observer.token.own.sequence = 0
    for list in observer.token.lists.keys { observer.token.lists[list]?.sequence = 0 }
    return observer
  }

  /// Where the observer stands.
  package var text: String { token.text }

  /// The stores to be told of.
  package var stores: [StoreName] {
    let lists = token.lists.keys.map { StoreName.list($0) }
    return filter.list == nil ? [own] + lists : lists
  }

  /// Whether nothing can come any more: the one list that is observed was left.
  package var isOver: Bool { filter.list != nil && token.lists.isEmpty }

  /// Looks at which lists the observer is on.
  /// - Returns: what has changed about that; a list that was joined is told from its beginning.
  package mutating func lookAtMemberships() async throws -> [ObserverEvent] {
    let present = try await memberships()
    var events: [ObserverEvent] = []
    for list in token.lists.keys.sorted(by: { $0.text < $1.text }) where present[list] == nil {
      token.lists[list] = nil
      events.append(event(.left, ["list": .string(list.text)]))
    }
    for (list, role) in present.sorted(by: { $0.key.text < $1.key.text }) {
      let isNew = token.lists[list] == nil
      if isNew { token.lists[list] = .absent }
      guard isNew || roles[list].map({ $0 != role }) ?? false else { continue }
      events.append(
        event(.joined, ["list": .string(list.text), "role": .string(role.rawValue)]))
    }
    roles = present
    return events
  }

  /// Reads on in one store.
  /// - Returns: besides, whether there is nothing more for now.
  package mutating func read(
    _ store: StoreName
  ) async throws -> (events: [ObserverEvent], isComplete: Bool) {
    guard let position = try await position(in: store) else { return ([], true) }
    let (filter, known) = (filter, forgotten[store])
    let page = try await lists.stores.withStore(store, creating: false) { store -> ObservedPage? in
      try await store?.read { view in
        try ObservedPage(after: position, knowing: known, filter, in: view)
      }
    }
    guard let page else { return ([], true) }
    forgotten[store] = page.forgotten
    var events: [ObserverEvent] = []
    if page.isRewound {
      move(store, to: ObserverToken.Position(epoch: page.epoch, sequence: 0))
      var data: JSONObject = [:]
      if case .list(let list) = store { data["list"] = .string(list.text) }
      events.append(event(.rewound, data))
    }
    for change in page.changes {
      move(store, to: ObserverToken.Position(epoch: page.epoch, sequence: change.sequence))
      events.append(change.event(in: store, token.text))
    }
    move(store, to: ObserverToken.Position(epoch: page.epoch, sequence: page.reached))
    return (events, page.isComplete)
  }

  /// Where the observer stands in a store; nil for a list that it is on no longer.
  private func position(in store: StoreName) async throws -> ObserverToken.Position? {
    guard case .list(let list) = store else { return token.own }
    guard let account, try await lists.role(of: account, in: list) != nil else { return nil }
    return token.lists[list]
  }

  private mutating func move(_ store: StoreName, to position: ObserverToken.Position) {
    if case .list(let list) = store {
      token.lists[list] = position
    } else {
      token.own = position
    }
  }

  private func event(_ name: ObserverEvent.Name, _ data: JSONObject) -> ObserverEvent {
    ObserverEvent(name: name, data: JSONValue.object(data).bytes, token: token.text)
  }

  private func end(of store: StoreName) async throws -> ObserverToken.Position {
    try await lists.stores.withStore(store, creating: false) { store in
      try await store?.readInline { view in ObserverToken.Position(try view.info()) } ?? .absent
    }
  }

  private func memberships() async throws -> [AccountID: ListRole] {
    guard let account else { return [:] }
    let all = try await lists.directory.lists(
      of: account, after: nil, limit: ListLimits.perAccount)
    let wanted = all.filter { filter.list == nil || $0.id == filter.list }
    return Dictionary(wanted.map { ($0.id, $0.role) }) { $1 }
  }

  private func requireList() throws {
    guard let list = filter.list, token.lists[list] == nil else { return }
    throw ServiceError.absent
  }
}

/// A page of one store's changes, of one state.
struct ObservedPage: Sendable {
  /// One document that has changed.
  struct Change: Sendable {
    let sequence: Int64
    let document: Document
  }

  /// Whether the state does not follow the position that was asked from.
  let isRewound: Bool
  let epoch: [UInt8]
  /// The last old tombstone that the store has forgotten, 0 for none.
  let forgotten: Int64
  private(set) var changes: [Change] = []
  /// The last change that was looked at.
  private(set) var reached: Int64
  private(set) var isComplete = true

  /// Reads what has changed after a position, as far as a filter lets it through.
  /// - Parameter known: what the store had forgotten when the same stream read the page before; nil for the first.
  init(
    after position: ObserverToken.Position, knowing known: Int64?, _ filter: Observer.Filter,
    in view: any StoreView
  ) throws {
    let info = try view.info()
    forgotten = try view.purgeLog()?.forgotten ?? 0
    let hasMissed = (1..<max(1, forgotten)).contains(position.sequence) && known != forgotten
    isRewound = position.isRewound(in: info) || hasMissed
    epoch = ObserverToken.Position.epoch(of: info)
    let start = isRewound ? 0 : position.sequence
    reached = start
    var bytes = 0
    let rows = try view.changes(after: reached, limit: Observer.pageChanges)
    for row in rows {
      if bytes > Observer.pageBytes || Slice.isOver && reached > start {
        isComplete = false
        return
      }
      reached = row.sequence
      guard filter.id == nil || filter.id == row.id, let document = try view.document(row.id),
        try Self.has(filter.type, document, in: view)
      else { continue }
      changes.append(Change(sequence: row.sequence, document: document))
      bytes += document.body.count
    }
    isComplete = rows.count < Observer.pageChanges
  }

  /// Whether a document is of a type, or was before it was deleted.
  private static func has(
    _ type: String?, _ document: Document, in view: any StoreView
  ) throws -> Bool {
    guard let type else { return true }
    if isOf(type, document.body) { return true }
    guard document.isDeleted, let tree = try view.newest(document.id),
      let parent = tree[document.revision]?.parent
    else { return false }
    return try view.body(document.id, tree.nodes[parent].revision).map { isOf(type, $0) } ?? true
  }

  private static func isOf(_ type: String, _ body: [UInt8]) -> Bool {
    (try? ParsedJSON(body, limits: .stored).root["type"])?.stringEquals(type) ?? false
  }
}

extension ObservedPage.Change {
  /// `{"list"?,"id","rev","deleted"?,"document"?}`. Stored bodies have no line break but between their values.
  func event(in store: StoreName, _ token: String) -> ObserverEvent {
    var writer = JSONWriter(reserving: document.body.count + 256)
    writer.beginObject()
    if case .list(let list) = store { writer.member("list", list.text) }
    writer.member("id", document.id.text)
    writer.member("rev", document.revision.description)
    if document.isDeleted {
      writer.member("deleted", true)
    } else {
      writer.member(
        "document", raw: document.body.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
    }
    writer.endObject()
    let isDraft = document.id.text.utf8.starts(with: ListWriteRule.draftPrefix.utf8)
    return ObserverEvent(name: isDraft ? .draft : .change, data: writer.bytes, token: token)
  }
}
