package import Documents
import Scheduling
package import Stores

/// A device that keeps a copy of a store, as its checkpoints tell. A device that names itself is one, however many
/// checkpoints it has; any other is known by its checkpoint.
package struct SyncDevice: Sendable, Equatable {
  /// The software that syncs.
  package enum Client: String, Sendable {
    case couchbaseLite = "couchbase-lite"
    case couchDB = "couchdb"
    case pouchDB = "pouchdb"
    case mirror
    case other

    /// The longest id of a document that Couchbase Lite stores, in bytes.
    private static let longestLiteID = 240
    /// The first generation that Couchbase Lite can't read, and the first one that version 4 can't, whose versions have 24
    /// bits for it.
    package static let endOfLiteGenerations = (trees: 1 << 32, versions: 1 << 24)

    /// Why the software is not sent a document, whatever it contains; nil if it is.
    package func refusal(of id: DocumentID) -> String? {
      guard self == .couchbaseLite else { return nil }
      if id.isDesign { return "Couchbase Lite takes no design documents" }
      let bytes = id.text.utf8
      guard bytes.count > Self.longestLiteID || bytes.contains(where: { $0 < 0x20 }) else {
        return nil
      }
      return
        "Couchbase Lite takes no id of more than \(Self.longestLiteID) bytes or with a control character"
    }
  }

  /// Why the device is not sent a document with this winner, whatever it contains; nil if it is. Of the versions of
  /// Couchbase Lite, 4 is assumed if the device does not say another one.
  func refusal(of id: DocumentID, _ winner: RevisionID) -> String? {
    if let reason = client.refusal(of: id) { return reason }
    guard client == .couchbaseLite else { return nil }
    let (trees, versions) = Client.endOfLiteGenerations
    let isOld = ["CouchbaseLite/2.", "CouchbaseLite/3."].contains { prefix in
      label?.agent?.utf8.starts(with: prefix.utf8) ?? false
    }
    guard winner.generation >= (isOld ? trees : versions) else { return nil }
    return "Couchbase Lite reads no revision that was edited so often (\(winner.generation) times)"
  }

  /// Whether the device is sent a change.
  func takes(_ change: Change) -> Bool { refusal(of: change.id, change.revision) == nil }

  /// The ids of the local documents that stand for a copy of `GET /v1/mirror`.
  static let mirrorPrefix = LocalID.clientPrefix + "mirror/"
  /// The longest checkpoint that is read: 64 KiB. Replicators keep at most 50 sessions in one.
  private static let mostBytes = 64 << 10
  private static let idDigits = 16

  /// Identifies the device among those of its owner in the store.
  package let id: String
  package let label: DeviceLabel?
  package let client: Client
  /// When its newest checkpoint was written.
  package let seen: Timestamp
  /// The sequence of the last change that it is known to have; nil for a device that has only sent changes.
  package let position: Int64?

  init(
    id: String, label: DeviceLabel? = nil, client: Client = .other, seen: Timestamp,
    position: Int64? = nil
  ) {
    (self.id, self.label, self.client) = (id, label, client)
    (self.seen, self.position) = (seen, position)
  }

  /// Reads what a checkpoint tells; its position counts as none if it is that of another store.
  init(
    _ record: LocalRecord, _ checkpoint: LocalDocument?, in info: StoreInfo, of store: StoreTag
  ) {
    let root = checkpoint.flatMap { document in
      document.body.count <= Self.mostBytes
        ? try? ParsedJSON(document.body, limits: .stored).root : nil
    }
    let name = record.device?.name
    self.init(
      id: Hex.digest(
        of: name.map { "name " + $0 } ?? "checkpoint " + record.id.text, digits: Self.idDigits),
      label: record.device, client: Self.client(of: record.id, root), seen: record.written,
      position: root.flatMap { Self.position(in: $0, info, store) })
  }

  private static func client(of id: LocalID, _ root: JSONNode?) -> Client {
    if id.text.utf8.starts(with: mirrorPrefix.utf8) { return .mirror }
    if root?["time"]?.kind == .number { return .couchbaseLite }
    if root?["replicator"]?.stringEquals("pouchdb") == true { return .pouchDB }
    return root?["replication_id_version"] == nil ? .other : .couchDB
  }

  /// The position in this store. Where a device sends, its checkpoint has a position of the device's own.
  ///
  /// Source: CouchDB, "Replication Protocol"; PouchDB's `checkpointer`; LiteCore's `Checkpoint`.
  private static func position(in root: JSONNode, _ info: StoreInfo, _ store: StoreTag) -> Int64? {
    for name in ["source_last_seq", "last_seq", "remote"] {
      guard let text = root[name]?.string, let token = try? SinceToken(text),
        case .after = token
      else { continue }
      let position = token.position(in: info, of: store)
      if !position.isRewound { return position.sequence }
    }
    return nil
  }

  /// The checkpoint of a mirror: a copy has all changes up to a position.
  /// - Parameter day: on which the copy was last brought up to date, in days since 1970.
  static func checkpoint(_ position: String, on day: Int) -> [UInt8] {
    let body: JSONValue = [
      "session_id": "mirror", "history": .array([]), "source_last_seq": .string(position),
      "day": .number(JSONNumber(day)),
    ]
    return body.bytes
  }

  /// This device with another checkpoint of the same name: what the newer one tells counts, and the newest position.
  func joined(with other: SyncDevice) -> SyncDevice {
    let (new, old) = seen < other.seen ? (other, self) : (self, other)
    return SyncDevice(
      id: id, label: new.label, client: new.position == nil ? old.client : new.client,
      seen: new.seen, position: new.position ?? old.position)
  }
}

/// Reads the devices of a person in a store, in slices: a client decides how many checkpoints there are.
struct DeviceReader: Sendable {
  private var rest: [LocalRecord]?
  private var found: [String: SyncDevice] = [:]

  /// Goes on reading.
  /// - Returns: the devices, the one seen last first; nil if there are more checkpoints.
  mutating func read(
    _ view: any StoreView, of author: Author, in store: DocumentStore
  ) throws -> [SyncDevice]? {
    var records = try rest ?? view.checkpoints(of: author, in: store.name, within: store.quota)
    let (info, tag) = (try view.info(), StoreTag(store.name))
    while let record = records.popLast() {
      let device = SyncDevice(record, try view.local(record.id), in: info, of: tag)
      found[device.id] = found[device.id]?.joined(with: device) ?? device
      if view.slice.isOver, !records.isEmpty {
        rest = records
        return nil
      }
    }
    return found.values.sorted { ($1.seen, $0.id) < ($0.seen, $1.id) }
  }
}
