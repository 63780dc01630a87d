package import Documents
import JSON
package import Stores

/// One store as a CouchDB database: the dialect's verbs, without HTTP. A value; good for as long as the
/// store's lease.
///
/// Source: CouchDB 3, "API reference: databases, documents, local documents".
package struct CouchDatabase: Sendable {
  /// The name that clients know the database by.
  package let name: String
  /// What keeps the documents.
  let store: DocumentStore
  /// Draws an id for a document that comes without one.
  let newID: @Sendable () -> DocumentID
  /// Whether design documents may be written.
  let mayDesign: Bool
  /// What else the writer may not do.
  let rule: WriteRule
  /// Whether there is memory for an answer that has grown to so many bytes.
  let holdsAnswer: @Sendable (Int) -> Bool

  /// A database over a store.
  /// - Parameter mayDesign: whether design documents may be written; CouchDB lets no mere member do that.
  /// - Parameter rule: what else the writer may not do.
  /// - Parameter holdsAnswer: accounts for an answer that has grown to so many bytes; answers whether there is
  ///   memory for it.
  /// - Parameter newID: draws an id for a document that comes without one.
  package init(
    name: String, store: DocumentStore, mayDesign: Bool = true, rule: WriteRule = .none,
    holdsAnswer: @escaping @Sendable (Int) -> Bool = { _ in true },
    newID: @escaping @Sendable () -> DocumentID = CouchDatabase.randomID
  ) {
    self.name = name
    self.store = store
    self.mayDesign = mayDesign
    self.rule = rule
    self.holdsAnswer = holdsAnswer
    self.newID = newID
  }

  /// An id of 128 random bits.
  package static let randomID: @Sendable () -> DocumentID = {
    var generator = SystemRandomNumberGenerator()
    return .random(using: &generator)
  }

  /// How large documents may be.
  package var documentLimits: DocumentLimits { DocumentLimits(store.quota) }

  /// Commits what a rule records.
  /// - Throws: besides, 403 `forbidden` for a document that may not be written.
  @discardableResult
  func updating<Value: Sendable>(
    _ ids: Set<DocumentID> = [],
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    for id in ids { if let refusal = refusal(of: id) { throw refusal } }
    return try await store.update(loading: ids) { [writeRule = self.rule] changes in
      let value = try rule(&changes)
      try writeRule.check(changes)
      return value
    }
  }

  /// 403 `forbidden` for a document that may not be written; nil for any other.
  func refusal(of id: DocumentID) -> ServiceError? {
    guard !mayDesign, id.isDesign else { return rule.refusal(id) }
    return ServiceError(.forbidden, "You are not a db or server admin.")
  }
}

extension CouchDatabase {
  /// The moment at which the server started, for clients that ask whether it did meanwhile: always `"0"`,
  /// since every answer is on disk. As in CouchDB 3.
  package static let instanceStartTime = "0"

  /// `GET /{db}`: names, counts and the last sequence.
  ///
  /// Source: CouchDB, "GET /{db}". `sizes.file` leaves the log out. Two members are this service's own, and absent where
  /// there is nothing to say: `damaged` names the documents of which a revision was lost to damage, and `warnings` says
  /// which rules of design documents are not run.
  package func info() async throws -> CouchAnswer {
    let (info, fileBytes, damage) = try await store.read { view in
      (try view.info(), try view.fileBytes(), try view.damage())
    }
    let rules = try await store.read(inSlices: DesignRulesReader()) {
      reader, view in
      try reader.read(view) ? reader.ids : nil
    }
    let bytes = JSONValue.number(JSONNumber(Int(clamping: info.bodyBytes)))
    var value: JSONObject = [
      "db_name": .string(name),
      "purge_seq": .string(SinceToken.at(0, in: info, of: tag).text),
      "update_seq": .string(SinceToken.at(info.lastSequence, in: info, of: tag).text),
      "sizes": [
        "external": bytes, "active": bytes,
        "file": .number(JSONNumber(Int(clamping: fileBytes))),
      ],
      "props": [:],
      "doc_del_count": .number(JSONNumber(Int(clamping: info.deletedCount))),
      "doc_count": .number(JSONNumber(Int(clamping: info.documentCount))),
      "disk_format_version": 8,
      "compact_running": false,
      "cluster": ["q": 1, "n": 1, "w": 1, "r": 1],
      "instance_start_time": .string(Self.instanceStartTime),
    ]
    if !damage.isEmpty { value.append("damaged", .array(damage.map { .string($0.id) })) }
    if !rules.isEmpty {
      value.append("warnings", .array(rules.map { .string(DesignRules.warning(of: $0)) }))
    }
    return CouchAnswer(JSONValue.object(value).bytes)
  }

  /// `POST /{db}/_ensure_full_commit`: nothing to do, since every answered write is on disk. Status 201.
  ///
  /// Source: CouchDB, "POST /{db}/_ensure_full_commit".
  package static var fullCommit: CouchAnswer {
    let value: JSONValue = ["ok": true, "instance_start_time": .string(instanceStartTime)]
    return CouchAnswer(201, value.bytes)
  }
}
