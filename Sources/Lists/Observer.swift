package import Documents
import Scheduling
package import Stores

package struct ObserverEvent: Sendable {
  package enum Name: String, Sendable {
    /// A document of the observer's own store or of a list was written or deleted.
    case change
    /// One of the observer's own drafts was written, published or discarded.
    case draft
    /// The observer has joined a list, or has another role on it.
    case joined
    /// The observer is no longer on a list, or the list was deleted.
    case left
    /// A backup was restored, or the store has forgotten deletions that were not reported. Earlier events may no
    /// longer hold; the whole state follows.
    case rewound
  }

  package let name: Name
  /// A JSON object on one line.
  package let data: [UInt8]
  /// The token with which a stream continues after this event.
  package let token: String
}

/// A person's stream of changes of their own store and their lists: a value that holds a position and reads on from
/// there. The caller reads when it learns of changes.
package struct Observer: Sendable {
  /// Which changes are reported.
  package struct Filter: Sendable {
    /// Only this document; nil for any.
    package let id: DocumentID?
    /// Only documents whose body has this `type`, or had it before the deletion; nil for any.
    package let type: String?
    /// Only this list; nil for the own store and all lists.
    package let list: AccountID?

    package init(id: DocumentID? = nil, type: String? = nil, list: AccountID? = nil) {
      (self.id, self.type, self.list) = (id, type, list)
    }
  }

  /// The most changes in one page.
  static let pageChanges = 100
  /// A page ends once it has this many bytes of bodies: 256 KiB.
  static let pageBytes = 256 << 10

  let lists: ListService
  /// The account whose lists are observed; nil for a guest, who has none.
  let account: AccountID?
  package let own: StoreName
  let filter: Filter
  var token: ObserverToken
  /// The observer's roles on its lists, as last reported.
  private var roles: [AccountID: ListRole] = [:]
  /// For each store, the sequence of the last old tombstone that it had forgotten at this stream's last read.
  private var forgotten: [StoreName: Int64] = [:]

  private init(
    _ lists: ListService, account: AccountID?, own: StoreName, _ filter: Filter,
    _ token: ObserverToken
  ) {
    (self.lists, self.account, self.own) = (lists, account, own)
    (self.filter, self.token) = (filter, token)
  }

  /// Makes an observer that starts with future changes.
  /// - Throws: `absent` when the filter's list does not exist or the account is not a member.
  package static func fromNow(
    _ lists: ListService, account: AccountID?, own: StoreName, _ filter: Filter
  ) async throws -> Observer {
    var observer = Observer(lists, account: account, own: own, filter, ObserverToken(own: .absent))
    observer.token.own = try await observer.end(of: own)
    for list in try await observer.memberships().keys {
      let end = try await observer.besideDamage(in: .list(list)) {
        try await observer.end(of: .list(list))
      }
      observer.token.lists[list] = end ?? .absent
    }
    try observer.requireList()
    return observer
  }

  /// Makes an observer that continues after an event.
  /// - Throws: `absent`, as ``fromNow(_:account:own:_:)``.
  package static func going(
    on token: ObserverToken, _ lists: ListService, account: AccountID?, own: StoreName,
    _ filter: Filter
  ) async throws -> Observer {
    var observer = Observer(lists, account: account, own: own, filter, token)
    guard let list = filter.list else { return observer }
    // The token may come from a stream with other lists.
    observer.token.lists = token.lists.filter { $0.key == list }
    if observer.token.lists.isEmpty, try await observer.memberships().isEmpty {
      throw ServiceError.absent
    }
    return observer
  }

  /// Makes an observer that starts with the whole state: every document counts as changed.
  package static func fromStart(
    _ lists: ListService, account: AccountID?, own: StoreName, _ filter: Filter
  ) async throws -> Observer {
    var observer = try await fromNow(lists, account: account, own: own, filter)
    observer.token.own.sequence = 0
    for list in observer.token.lists.keys { observer.token.lists[list]?.sequence = 0 }
    return observer
  }

  /// The token of the present position.
  package var text: String { token.text }

  package var stores: [StoreName] {
    let lists = token.lists.keys.map { StoreName.list($0) }
    return filter.list == nil ? [own] + lists : lists
  }

  /// Whether nothing more can come, because the observer has left the only observed list.
  package var isOver: Bool { filter.list != nil && token.lists.isEmpty }

  /// Checks of which lists the observer is a member.
  /// - Returns: the events about changed memberships. A list that was joined is reported from its beginning.
  package mutating func readMemberships() async throws -> [ObserverEvent] {
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
      events.append(event(.joined, ["list": .string(list.text), "role": .string(role.rawValue)]))
    }
    roles = present
    return events
  }

  /// Reads the next page of one store. A damaged list among others has nothing for now.
  /// - Returns: the events, and whether there is nothing more for now.
  package mutating func read(
    _ store: StoreName
  ) async throws -> (events: [ObserverEvent], isComplete: Bool) {
    guard let position = try await position(in: store) else { return ([], true) }
    let (filter, known) = (filter, forgotten[store])
    let page = try await besideDamage(in: store) {
      try await lists.stores.read(store) { view in
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

  /// The position in a store; nil for a list of which the observer is no longer a member.
  private func position(in store: StoreName) async throws -> ObserverToken.Position? {
    guard case .list(let list) = store else { return token.own }
    guard let account, try await lists.role(of: account, in: list) != nil else { return nil }
    return token.lists[list]
  }

  /// Reads a store. So that a damaged list leaves the rest of the stream as it is, damage is nothing to read, unless the
  /// list is all that is observed.
  private func besideDamage<Value: Sendable>(
    in store: StoreName, _ read: () async throws -> Value?
  ) async throws -> Value? {
    do { return try await read() } catch let error as ServiceError {
      guard error.code.isOfDamage, store != own, filter.list == nil else { throw error }
      return nil
    }
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
    try await lists.stores.readInline(store) { view in
      ObserverToken.Position(try view.info())
    } ?? .absent
  }

  private func memberships() async throws -> [AccountID: ListRole] {
    guard let account else { return [:] }
    let all = try await lists.directory.lists(of: account, after: nil, limit: ListLimits.perAccount)
    let wanted = all.filter { filter.list == nil || $0.id == filter.list }
    return Dictionary(wanted.map { ($0.id, $0.role) }) { $1 }
  }

  private func requireList() throws {
    guard let list = filter.list, token.lists[list] == nil else { return }
    throw ServiceError.absent
  }
}

/// A page of one store's changes, from one state.
struct ObservedPage: Sendable {
  struct Change: Sendable {
    let sequence: Int64
    let document: Document
  }

  /// Whether the state does not continue from the requested position.
  let isRewound: Bool
  let epoch: [UInt8]
  /// The sequence of the last old tombstone that the store has forgotten; 0 for none.
  let forgotten: Int64
  private(set) var changes: [Change] = []
  /// The sequence of the last change that was read.
  private(set) var reached: Int64
  private(set) var isComplete = true

  /// Reads the changes after a position that pass a filter.
  /// - Parameter known: ``forgotten`` of the stream's previous page; nil for the first.
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
      if bytes > Observer.pageBytes || view.slice.isOver && reached > start {
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

  /// Whether a document has a type, or had it before its deletion.
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
  /// `{"list"?,"id","rev","deleted"?,"document"?}`. Line breaks of a stored body, which occur only between values,
  /// become spaces.
  func event(in store: StoreName, _ token: String) -> ObserverEvent {
    let data = JSONWriter.object(reserving: document.body.count + 256) { writer in
      if case .list(let list) = store { writer.member("list", list.text) }
      writer.member("id", document.id.text)
      writer.member("rev", document.revision.description)
      if document.isDeleted {
        writer.member("deleted", true)
      } else {
        writer.member("document", raw: document.body.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
      }
    }
    let isDraft = ListDraft.isDraft(document.id)
    return ObserverEvent(name: isDraft ? .draft : .change, data: data, token: token)
  }
}
