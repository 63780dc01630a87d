package import Documents
package import Stores

extension Timestamp {
  /// The time of most claims' writes.
  static let start = Timestamp(seconds: 1_800_000_000)
}

extension StoreView {
  /// The ids of live documents whose body has this `type`, in byte order.
  package func ids(ofType type: String) throws -> [DocumentID] {
    var (ids, last): ([DocumentID], Int64) = ([], 0)
    while true {
      let page = try changes(ofType: type, after: last, limit: 1_000)
      guard let reached = page.last?.sequence else { return ids.sorted() }
      ids += page.map(\.id)
      last = reached
    }
  }
}

extension StoreStorage {
  @discardableResult
  func put(
    _ id: DocumentID, _ text: String, base: RevisionID? = nil, isDeleted: Bool = false,
    created: Timestamp? = nil, keepsHistory: Bool = true, by author: Author = .server,
    at now: Timestamp = .start
  ) async throws -> RevisionID {
    let body = try DocumentBody(parsing: Array(text.utf8))
    return try await update(loading: [id], at: now) { changes in
      let tree = try changes.tree(id)
      var mutation = try Edit.put(id, in: tree, base: base, body: body, isDeleted: isDeleted)
      mutation.created = created
      changes.write(mutation)
      changes.keepsHistory = keepsHistory
      changes.author = author
      return mutation.revision
    }
  }

  /// Adds revisions to one document, each the child of the one before, with the bodies `{"n":0}`, `{"n":1}`
  /// and so on.
  /// - Returns: the revisions, oldest first.
  func putChain(_ id: DocumentID, count: Int) async throws -> [RevisionID] {
    var revisions: [RevisionID] = []
    for number in 0..<count {
      revisions.append(try await put(id, "{\"n\":\(number)}", base: revisions.last))
    }
    return revisions
  }

  /// Adds a peer's revision with its history, newest first.
  /// - Returns: the changes that follow from it.
  @discardableResult
  func graft(
    _ id: DocumentID, _ history: [RevisionID], _ text: String, isDeleted: Bool = false,
    by author: Author = .server, at now: Timestamp = .start
  ) async throws -> [Change] {
    let body = try DocumentBody(parsing: Array(text.utf8))
    let last = try await update(loading: [id], at: now) { changes in
      let tree = try changes.tree(id)
      let mutation = try Edit.insert(
        id, in: tree, history: history, body: body, isDeleted: isDeleted, known: nil)
      changes.write(mutation)
      changes.author = author
      return try changes.view.info().lastSequence
    }
    return try await changes(after: last)
  }

  func setLocal(
    _ id: LocalID, _ document: LocalDocument?, expires: Timestamp? = nil,
    at now: Timestamp = .start
  ) async throws {
    try await update(loading: [], at: now) { changes in
      changes.write(LocalEdit(id, document, expires: expires))
    }
  }

  func document(_ id: DocumentID) async throws -> Document? {
    try await read { view in try view.document(id) }
  }

  func tree(_ id: DocumentID) async throws -> RevisionTree? {
    try await read { view in try view.tree(id) }
  }

  func body(_ id: DocumentID, _ revision: RevisionID) async throws -> String? {
    try await read { view in try view.body(id, revision) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  func kept(_ id: DocumentID, _ revision: RevisionID) async throws -> KeptRevision? {
    try await read { view in try view.kept(id, revision) }
  }

  func local(_ id: LocalID) async throws -> LocalDocument? {
    try await read { view in try view.local(id) }
  }

  func info() async throws -> StoreInfo {
    try await read { view in try view.info() }
  }

  func changes(after sequence: Int64 = 0, limit: Int = 1_000_000) async throws -> [Change] {
    try await read { view in try view.changes(after: sequence, limit: limit) }
  }

  func ids(ofType type: String) async throws -> [String] {
    try await read { view in try view.ids(ofType: type) }.map(\.text)
  }

  func ids(in range: DocumentRange, limit: Int = .max) async throws -> [String] {
    try await read { view in
      var ids: [String] = []
      try view.documents(range) { document in
        ids.append(document.id.text)
        return ids.count < limit
      }
      return ids
    }
  }
}

/// Calls about counts, purges and indexes.
extension StoreStorage {
  /// Purges a document so that `tree` is left of it.
  func purge(
    _ id: DocumentID, to tree: RevisionTree = RevisionTree(), at now: Timestamp = .start
  ) async throws {
    try await update(loading: [id], at: now) { changes in
      changes.purge(Purge(id: id, tree: tree))
    }
  }

  func changes(upTo sequence: Int64, limit: Int = 1_000_000) async throws -> [Change] {
    try await read { view in try view.changes(upTo: sequence, limit: limit) }
  }

  func changeCount(after sequence: Int64) async throws -> Int64 {
    try await read { view in try view.changeCount(after: sequence) }
  }

  /// Counts a range in parts of `ids` ids.
  func count(_ range: DocumentRange, among ids: Int) async throws -> Int {
    try await read { view in
      var (count, rest) = (0, range)
      while true {
        let part = try view.count(rest, among: ids)
        count += part.count
        guard let last = part.last else { return count }
        rest = rest.behind(last.text)
      }
    }
  }

  func edit(_ edits: IndexEdit...) async throws {
    try await update(loading: [], at: .start) { changes in
      for edit in edits { changes.write(edit) }
    }
  }

  func indexedSequence(_ index: IndexID) async throws -> Int64? {
    try await read { view in try view.indexedSequence(index) }
  }

  func indexes() async throws -> [IndexID] {
    try await read { view in try view.indexes() }
  }

  func entries(of index: IndexID, _ range: IndexRange) async throws -> [IndexEntry] {
    try await read { view in
      var entries: [IndexEntry] = []
      try view.entries(index, range) { entry in
        entries.append(entry)
        return true
      }
      return entries
    }
  }

  func ids(
    in index: IndexID, _ range: IndexRange = IndexRange(), limit: Int = .max
  ) async throws -> [String] {
    try await read { view in
      var ids: [String] = []
      try view.entries(index, range) { entry in
        ids.append(entry.id.text)
        return ids.count < limit
      }
      return ids
    }
  }
}

extension Document {
  var text: String { String(decoding: body, as: UTF8.self) }
}
