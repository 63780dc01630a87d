import Documents
package import Stores

/// One store as a CouchDB database: the operations of CouchDB's API, without HTTP. A value that can be used as long as
/// the store's lease.
///
/// Source: CouchDB 3, "API reference: databases, documents, local documents".
package struct CouchDatabase: Sendable {
  /// The name of the database, as clients see it.
  package let name: String
  package let store: DocumentStore
  /// What decides its writes besides their rules.
  package let context: WriteContext
  /// Gives the word for an error's code in an element of an answer.
  let word: @Sendable (ServiceError.Code) -> String
  /// Whether the client may write design documents.
  let mayDesign: Bool
  /// The rule for what else the client may not write.
  let rule: WriteRule
  /// Whether there is memory for an answer of this many bytes.
  let reserveAnswer: @Sendable (Int) -> Bool

  /// Makes a database from a store.
  /// - Parameter word: gives the word for an error's code in an element of an answer.
  /// - Parameter mayDesign: whether the client may write design documents; in CouchDB an ordinary member may not.
  /// - Parameter rule: what else the client may not write.
  /// - Parameter reserveAnswer: accounts for an answer that has grown to this many bytes, and returns whether there is
  ///   memory for it.
  package init(
    name: String, store: DocumentStore, as context: WriteContext,
    saying word: @escaping @Sendable (ServiceError.Code) -> String, mayDesign: Bool = true,
    rule: WriteRule = .none,
    reserveAnswer: @escaping @Sendable (Int) -> Bool = { _ in true }
  ) {
    self.name = name
    self.store = store
    self.context = context
    self.word = word
    self.mayDesign = mayDesign
    self.rule = rule
    self.reserveAnswer = reserveAnswer
  }

  package var documentLimits: DocumentLimits { DocumentLimits(store.quota) }

  /// Commits the changes that a rule records.
  /// - Throws: the rule's and the store's errors; 403 `forbidden` for a document that the client may not write.
  @discardableResult
  func updating<Value: Sendable>(
    _ ids: Set<DocumentID> = [], isReplicated: Bool = false,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    for id in ids { if let refusal = refusal(of: id) { throw refusal } }
    return try await store.update(loading: ids, as: context) { [writeRule = self.rule] changes in
      let value = try rule(&changes)
      try writeRule.check(changes, isReplicated: isReplicated)
      return value
    }
  }

  /// 403 `forbidden` for a document that the client may not write; nil for any other.
  func refusal(of id: DocumentID) -> ServiceError? {
    guard !mayDesign, id.isDesign else { return rule.refusal(id) }
    return ServiceError(.noRight, "You are not a db or server admin.")
  }
}

extension CouchDatabase {
  /// What replicators compare to notice that a database was deleted and created again: digits, of which CouchDB makes the
  /// time of creation. A store that has no name of an administrator's is never created again, and comes into being with
  /// its first document, so its text stays `"0"`, as in CouchDB before 3.3.
  private func instanceStartTime(_ info: StoreInfo) -> String {
    guard case .named = store.name else { return "0" }
    return String(UInt64(info.firstEpoch.prefix(12), radix: 16) ?? 0)
  }

  /// `GET /{db}`: name, counts and the last sequence.
  ///
  /// Source: CouchDB, "GET /{db}". `sizes.file` does not include the write-ahead log. Two members are this service's
  /// own and are absent when empty: `damaged` names the documents that lost a revision to damage, and `warnings` says
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
      "instance_start_time": .string(instanceStartTime(info)),
    ]
    if !damage.isEmpty { value.append("damaged", .array(damage.map { .string($0.id) })) }
    if !rules.isEmpty {
      value.append("warnings", .array(rules.map { .string(DesignRules.warning(of: $0)) }))
    }
    return CouchAnswer(JSONValue.object(value).bytes)
  }

  /// `POST /{db}/_ensure_full_commit`: does nothing, because every answered write is on disk.
  ///
  /// Source: CouchDB, "POST /{db}/_ensure_full_commit".
  package func fullCommit() async throws -> CouchAnswer {
    let time = instanceStartTime(try await store.readInline { try $0.info() })
    let value: JSONValue = ["ok": true, "instance_start_time": .string(time)]
    return CouchAnswer(.created, value.bytes)
  }
}
