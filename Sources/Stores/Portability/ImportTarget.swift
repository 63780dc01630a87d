import Documents

/// The store into which a section is imported.
package struct ImportTarget: Sendable {
  let quota: StoreLimits
  /// Where the store is: open, or that of a list.
  private enum Place: Sendable {
    case open(DocumentStore)
    case list(AccountID, in: DatabaseManager)
  }

  private let place: Place
  /// The list's id in the export and its new id; nil for the account's own store.
  private let list: (former: String, present: String)?

  /// Creates a target from a store that no one else uses.
  package init(_ store: DocumentStore) { (quota, place, list) = (store.quota, .open(store), nil) }

  /// Creates a target from a shared list's store that no client knows yet. In the ids of documents the list's
  /// former id is replaced by its new id.
  /// - Parameter former: the list's id in the export.
  package init(list present: AccountID, calledBefore former: AccountID, in stores: DatabaseManager)
  {
    quota = stores.limits(of: .list(present))
    place = .list(present, in: stores)
    list = (former.text, present.text)
  }

  private func run<Value: Sendable>(
    _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    switch place {
    case .open(let store): try await use(store)
    case .list(let id, let stores): try await stores.withExisting(.list(id), use)
    }
  }

  func has(_ id: DocumentID) async throws -> Bool {
    try await run { store in try await store.readInline { view in try view.tree(id) } != nil }
  }

  func write(
    _ mutations: [Mutation], _ notes: [LocalEdit],
    _ attached: [AttachedRevision: [AttachmentName: AttachmentContent]], as context: WriteContext
  ) async throws {
    try await run { store in
      try await store.update(loading: Set(mutations.map(\.id)), as: context) { changes in
        changes.isWhole = true
        for mutation in mutations { changes.write(mutation) }
        for (revision, contents) in attached { try changes.attach(contents, to: revision) }
        for note in notes { changes.write(note) }
      }
    }
  }

  /// Writes the part of an attachment that has arrived.
  func write(
    _ upload: AttachmentUpload, isLast: Bool, as context: WriteContext
  ) async throws -> AttachmentUpload {
    try await run { store in
      var next = upload
      try await store.write(&next, isLast: isLast, as: context)
      return next
    }
  }

  /// The new id of a document.
  func id(_ id: DocumentID) throws -> DocumentID {
    guard let list, id.text.utf8.starts(with: list.former.utf8) else { return id }
    let rest = id.text.utf8.dropFirst(list.former.utf8.count)
    guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return id }
    return try DocumentID(list.present + String(Substring(rest)))
  }

  /// The new body of a revision: a note names its list by the list's new id.
  func body(_ body: DocumentBody) throws -> DocumentBody {
    guard let list, var members = try JSONValue(parsing: body.bytes, limits: .stored).object,
      members["wiki_id"]?.string?.equalsBytes(of: list.former) == true
    else { return body }
    members["wiki_id"] = .string(list.present)
    return try DocumentBody(.object(members))
  }
}
