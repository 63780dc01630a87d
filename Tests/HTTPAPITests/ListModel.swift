/// A model of lists as a plain value. Tests compare a service with it.
struct ListModel {
  /// A document that a draft changes.
  enum Key: Hashable, Comparable {
    case bookmark(String)
    case note(String)
  }

  /// A document's text, and the number of its last write.
  struct Item: Equatable {
    var text: String
    var revision: Int
  }

  struct Draft {
    /// The document on which the draft is based; nil if there was none.
    let base: Item?
    /// The new text; nil if the draft removes the document.
    var text: String?
  }

  struct List {
    var owner: String
    /// All members except the owner; true for editors.
    var others: [String: Bool] = [:]
    var items: [Key: Item] = [:]
    var drafts: [String: [Key: Draft]] = [:]

    func isMember(_ person: String) -> Bool { person == owner || others[person] != nil }
    func mayWrite(_ person: String) -> Bool { person == owner || others[person] == true }
  }

  var lists: [String: List] = [:]
  /// Who was on a list and is not any more, by list.
  private(set) var former: [String: Set<String>] = [:]
  private var revision = 0

  /// The status of a refusal, by membership and, if `writes`, by the right to write; nil if the request is allowed.
  private func refusal(_ person: String, _ id: String, writes: Bool = true) -> Int? {
    guard let list = lists[id], list.isMember(person) else { return 404 }
    return writes && !list.mayWrite(person) ? 403 : nil
  }

  private func refusalOfOwners(_ person: String, _ id: String) -> Int? {
    refusal(person, id, writes: false) ?? (lists[id]?.owner == person ? nil : 403)
  }

  mutating func putMember(_ name: String, isEditor: Bool, on id: String, by person: String) -> Int {
    if let refusal = refusalOfOwners(person, id) { return refusal }
    guard name != person else { return 403 }
    // Whoever is not a member is invited, and accepts at once.
    let isInvited = lists[id]?.others[name] == nil
    lists[id]?.others[name] = isEditor
    return isInvited ? 202 : 204
  }

  mutating func removeMember(_ name: String, from id: String, by person: String) -> Int {
    if let refusal = refusal(person, id, writes: false) { return refusal }
    guard lists[id]?.owner == person || name == person else { return 403 }
    guard lists[id]?.owner != name else { return 403 }
    guard lists[id]?.others.removeValue(forKey: name) != nil else { return 404 }
    lists[id]?.drafts[name] = nil
    former[id, default: []].insert(name)
    return 204
  }

  mutating func handOn(_ id: String, to name: String, by person: String) -> Int {
    if let refusal = refusalOfOwners(person, id) { return refusal }
    guard let list = lists[id], list.isMember(name) else { return 404 }
    guard name != person else { return 200 }
    lists[id]?.owner = name
    lists[id]?.others[name] = nil
    lists[id]?.others[person] = true
    // The list is offered, and the member accepts at once.
    return 202
  }

  mutating func end(_ id: String, by person: String) -> Int {
    if let refusal = refusalOfOwners(person, id) { return refusal }
    former[id, default: []].formUnion(lists[id].map { [person] + $0.others.keys } ?? [])
    lists[id] = nil
    return 204
  }

  mutating func put(_ key: Key, _ text: String, on id: String, by person: String) -> Int {
    if let refusal = refusal(person, id) { return refusal }
    return write(key, text, on: id) ? 201 : 200
  }

  /// - Parameter text: the revision's text; nil for a revision that removed the document.
  mutating func restore(_ key: Key, _ text: String?, on id: String, by person: String) -> Int {
    if let refusal = refusal(person, id) { return refusal }
    if let text {
      write(key, text, on: id)
    } else {
      lists[id]?.items[key] = nil
    }
    return 200
  }

  /// A note that arrives by sync. A former member is told so.
  mutating func push(_ name: String, _ text: String, on id: String, by person: String) -> Int {
    switch put(.note(name), text, on: id, by: person) {
    case 200: 201
    case 404 where former[id]?.contains(person) ?? false: 403
    case let status: status
    }
  }

  mutating func delete(_ key: Key, on id: String, by person: String) -> Int {
    if let refusal = refusal(person, id) { return refusal }
    return lists[id]?.items.removeValue(forKey: key) == nil ? 404 : 204
  }

  mutating func draft(_ key: Key, _ text: String?, on id: String, by person: String) -> Int {
    if let refusal = refusal(person, id) { return refusal }
    guard let list = lists[id] else { return 404 }
    let known = list.drafts[person]?[key]
    if text == nil, (known.map { $0.text == nil } ?? (list.items[key] == nil)) { return 404 }
    let base = known.map(\.base) ?? list.items[key]
    lists[id]?.drafts[person, default: [:]][key] = Draft(base: base, text: text)
    return text == nil ? 204 : known == nil ? 201 : 200
  }

  mutating func discard(_ key: Key, on id: String, by person: String) -> Int {
    if let refusal = refusal(person, id, writes: false) { return refusal }
    return lists[id]?.drafts[person]?.removeValue(forKey: key) == nil ? 404 : 204
  }

  mutating func publish(_ key: Key, on id: String, by person: String) -> Int {
    if let refusal = refusal(person, id) { return refusal }
    guard let draft = lists[id]?.drafts[person]?[key] else { return 404 }
    let theirs = lists[id]?.items[key]
    guard case .merged(let text) = Self.merge(key, draft, theirs) else { return 409 }
    if let text {
      write(key, text, on: id)
    } else {
      lists[id]?.items[key] = nil
    }
    lists[id]?.drafts[person]?[key] = nil
    return 200
  }

  private enum Merge { case merged(String?), conflict }

  /// Merges texts of one line, or of one member of a hotel.
  private static func merge(_ key: Key, _ draft: Draft, _ theirs: Item?) -> Merge {
    let isUnchanged = theirs?.revision == draft.base?.revision
    guard let mine = draft.text else {
      if case .note = key, !isUnchanged, theirs != nil { return .conflict }
      return .merged(nil)
    }
    guard !isUnchanged else { return .merged(mine) }
    if case .bookmark = key {
      guard let theirs, let base = draft.base else { return .merged(mine) }
      return .merged(mine == base.text ? theirs.text : mine)
    }
    guard let theirs else { return .conflict }
    if theirs.text == mine { return .merged(mine) }
    guard let base = draft.base else { return .conflict }
    if base.text == theirs.text { return .merged(mine) }
    return base.text == mine ? .merged(theirs.text) : .conflict
  }

  /// - Returns: whether the document is new.
  @discardableResult
  private mutating func write(_ key: Key, _ text: String, on id: String) -> Bool {
    let known = lists[id]?.items[key]
    guard known?.text != text else { return false }
    revision += 1
    lists[id]?.items[key] = Item(text: text, revision: revision)
    return known == nil
  }

  /// What a person sees of a list: its documents with the person's drafts.
  func seen(_ id: String, by person: String) -> [Key: String] {
    var seen = lists[id]?.items.mapValues(\.text) ?? [:]
    for (key, draft) in lists[id]?.drafts[person] ?? [:] { seen[key] = draft.text }
    return seen
  }
}
