import Documents
import NIOConcurrencyHelpers

/// The store into which a section is imported.
package struct ImportTarget: Sendable {
  let quota: StoreLimits
  private let run:
    @Sendable (_ use: @Sendable (DocumentStore) async throws -> Bool) async throws -> Bool
  /// The list's id in the export and its new id; nil for the account's own store.
  private let list: (former: String, present: String)?

  /// Creates a target from a store that no one else uses.
  package init(_ store: DocumentStore) {
    quota = store.quota
    run = { use in try await use(store) }
    list = nil
  }

  /// Creates a target from a shared list's store that no client knows yet. In the ids of documents the list's
  /// former id is replaced by its new id.
  /// - Parameter former: the list's id in the export.
  package init(list present: AccountID, calledBefore former: AccountID, in stores: DatabaseManager)
  {
    quota = stores.limits(of: .list(present))
    run = { use in
      try await stores.withExisting(.list(present)) { store in try await use(store) }
    }
    list = (former.text, present.text)
  }

  func has(_ id: DocumentID) async throws -> Bool {
    try await run { store in try await store.readInline { view in try view.tree(id) } != nil }
  }

  func write(
    _ mutations: [Mutation], _ notes: [LocalEdit],
    _ attached: [AttachedRevision: [AttachmentName: AttachmentContent]], as context: WriteContext
  ) async throws {
    _ = try await run { store in
      try await store.update(loading: Set(mutations.map(\.id)), as: context) { changes in
        changes.isWhole = true
        for mutation in mutations { changes.write(mutation) }
        for (revision, contents) in attached { try changes.attach(contents, to: revision) }
        for note in notes { changes.write(note) }
      }
      return true
    }
  }

  /// Writes the part of an attachment that has arrived.
  func write(
    _ upload: AttachmentUpload, isLast: Bool, as context: WriteContext
  ) async throws -> AttachmentUpload {
    let written = NIOLockedValueBox(upload)
    _ = try await run { store in
      var next = upload
      try await store.write(&next, isLast: isLast, as: context)
      written.withLockedValue { [next] in $0 = next }
      return true
    }
    return written.withLockedValue { $0 }
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
