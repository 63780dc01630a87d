import Documents
import Stores

extension CouchDatabase {
  /// The moment at which the server started, for clients that ask whether it did meanwhile: always `"0"`,
  /// since every answer is on disk. As in CouchDB 3.
  package static let instanceStartTime = "0"

  /// `GET /{db}`: names, counts and the last sequence.
  ///
  /// Source: CouchDB, "GET /{db}". `sizes.file` leaves the log out. Two members are this service's own, and absent where
  /// there is nothing to say: `damaged` names the documents of which a revision was lost to damage, and `warnings` says
  /// which rules of design documents are not run.
  package func info() async throws(CouchError) -> CouchAnswer {
    let (info, fileBytes, damage) = try await reading { view throws(StoreError) in
      (try view.info(), try view.fileBytes(), try view.damage())
    }
    let rules = try await reading(inSlices: DesignRulesReader()) {
      reader, view throws(StoreError) in
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
