import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// The delivery ledger: which of a person's devices have what, and why something is missing on one.
struct DeliveryController: Sendable {
  let databases: CouchDatabaseAccess
  /// The answers of devices that are connected.
  let subscriptions: Subscriptions
  /// The clock.
  let now: @Sendable () -> Timestamp

  var routes: [Route] {
    [
      Route(.get, "/v1/sync/devices", access: .person, answer: .uncached, run: devices),
      Route(.get, "/v1/sync/items", access: .person, answer: .uncached, run: items),
      Route(.get, "/v1/sync/explain", access: .person, answer: .uncached, run: explain),
      Route(.post, "/v1/sync/items/{documentID}/retry", access: .person, answer: .kept, run: retry),
      Route(.delete, "/v1/sync/items/{documentID}", access: .person, answer: .kept, run: drop),
    ]
  }

  /// The person's own database, or that of a list that the query names.
  /// - Throws: 404 for a list that is absent or without the caller as a member; 403 for one that the caller has left.
  private func database(
    _ query: QueryParameters, _ call: Call, _ person: Principal
  ) async throws -> CouchStore {
    guard let text = query["list"] else { return databases.own(of: person, as: call.writeContext) }
    guard person.kind == .user, let id = AccountID(text) else { throw Problem.notFound }
    return try await databases.list(id, for: person, as: call.writeContext)
  }

  private func devices(_ call: Call, _ person: Principal) async throws -> Response {
    let store = try await database(try call.query("list"), call, person)
    let devices = try await store.read { try await $0.devices() }
    let connected = connected(to: store, person)
    return .json { writer in
      writer.objects("devices", of: devices) { found, writer in
        found.device.write(to: &writer)
        writer.member("seen", found.device.seen.rfc3339)
        writer.member("connected", found.device.label.map(connected.contains) ?? false)
        writer.member("pending", found.pending)
      }
    }
  }

  /// The devices that read the store at present, at this node.
  private func connected(to store: CouchStore, _ person: Principal) -> Set<DeviceLabel> {
    subscriptions.devices(of: person.author, reading: store.name)
  }

  private func items(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("list", "state", "device", "after", "limit")
    let store = try await database(query, call, person)
    guard let state = query["state"].flatMap(Delivery.State.init) else {
      let names = Delivery.State.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem.invalidParameter("state must be one of: \(names)")
    }
    let limit = try query.int("limit", in: 1...1_000, default: 100)
    guard state != .rejected else { return try await refused(in: store, of: query["device"]) }
    guard let id = query["device"] else {
      throw Problem.invalidParameter("device must name one of your devices")
    }
    let after = try query["after"].map { _ in
      Int64(try query.int("after", in: 0...Int.max, default: 0))
    }
    let (device, (page, next)) = try await store.read { database in
      let device = try await database.device(id)
      return (
        device,
        try await database.changes(
          isDelivered: state == .delivered, to: device, from: after, limit: limit)
      )
    }
    let isConnected = device.label.map(connected(to: store, person).contains) ?? false
    // All that a device has not confirmed is on its way while it is connected, and waits otherwise.
    let isOfState = state == .delivered || isConnected == (state == .inTransit)
    let changes = isOfState ? page : []
    return .json { writer in
      writer.objects("items", of: changes) { change, writer in
        writer.member("id", change.id.text)
        writer.member("rev", change.revision.description)
        writer.member("deleted", change.isDeleted)
        writer.member("state", state.rawValue)
      }
      if isOfState, let next { writer.member("next", String(next)) }
    }
  }

  private func refused(in store: CouchStore, of device: String?) async throws -> Response {
    let refused = try await store.read { database in
      let refused = try await database.refused()
      guard let device else { return refused }
      let label = try await database.device(device).label
      return refused.filter { $0.isSent(by: label) }
    }
    return .json { $0.objects("items", of: refused) { $0.write(to: &$1) } }
  }

  private func explain(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("list", "id", "rev", "device")
    guard let text = query["id"] else { throw Problem.invalidParameter("id must name a document") }
    let (id, revision) = (try DocumentID(text), try query["rev"].map { try RevisionID($0) })
    let store: CouchStore
    do { store = try await database(query, call, person) } catch let error as ServiceError
      where error.code == .forbidden
    {
      return Self.explanation(of: id, nil, Delivery(.rejected, .noRight, error.reason), [])
    }
    if let draft = try await draft(of: id, query, call, person) {
      return Self.explanation(of: id, nil, draft, [])
    }
    let (connected, now) = (connected(to: store, person), now())
    return try await store.read { database in
      let document = try await database.explain(id, revision)
      let devices =
        try await query["device"] == nil
        ? database.devices().map(\.device) : [database.device(query["device"] ?? "")]
      let deliveries = try await database.deliveries(
        of: document, to: devices, connected: connected, at: now)
      return Self.explanation(
        of: id, document.shown, document.here, Array(zip(devices, deliveries)))
    }
  }

  /// The explanation for a list's document of which the caller has a draft.
  private func draft(
    of id: DocumentID, _ query: QueryParameters, _ call: Call, _ person: Principal
  ) async throws -> Delivery? {
    guard let list = query["list"], query["rev"] == nil,
      let draft = try? DocumentID("draft:\(list):\(id.text)")
    else { return nil }
    let own = databases.own(of: person, as: call.writeContext)
    let isThere = try await own.read { database in
      try await database.explain(draft, nil).isLive
    }
    guard isThere else { return nil }
    return Delivery(
      .pending, .draft, "You have a draft of it, which nobody else sees until you publish it")
  }

  private static func explanation(
    of id: DocumentID, _ revision: RevisionID?, _ here: Delivery,
    _ devices: [(SyncDevice, Delivery)]
  ) -> Response {
    .json { writer in
      writer.member("id", id.text)
      if let revision { writer.member("rev", revision.description) }
      here.write(to: &writer)
      writer.objects("devices", of: devices) { found, writer in
        found.0.write(to: &writer)
        found.1.write(to: &writer)
      }
    }
  }

  private func retry(_ call: Call, _ person: Principal) async throws -> Response {
    let id = try DocumentID(call.parameter("documentID"))
    let store = try await database(try call.query("list"), call, person)
    let answer = { @Sendable (revision: RevisionID) in
      WriteAnswer.json(.ok, headers: [:]) { writer in
        writer.member("id", id.text)
        writer.member("rev", revision.description)
      }
    }
    return try await .written(as: answer) { answer in
      try await store.write { try await $0.retry(id, answer: answer) }
    }
  }

  private func drop(_ call: Call, _ person: Principal) async throws -> Response {
    let id = try DocumentID(call.parameter("documentID"))
    let store = try await database(try call.query("list"), call, person)
    return try await .written(as: WriteAnswer.noContent) { answer in
      try await store.write { try await $0.drop(id, answer: answer) }
    }
  }
}

extension SyncDevice {
  /// Writes how the device is called into an open object.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("id", id)
    if let name = label?.name { writer.member("name", name) }
    if let agent = label?.agent { writer.member("agent", agent) }
    writer.member("client", client.rawValue)
  }
}

extension Delivery {
  /// Writes the explanation into an open object.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("state", state.rawValue)
    writer.member("cause", cause.rawValue)
    writer.member("reason", reason)
  }
}

extension RefusedRevision {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("id", id.text)
    writer.member("rev", revision.description)
    writer.member("deleted", isDeleted)
    writer.member("state", Delivery.State.rejected.rawValue)
    writer.member("error", error)
    writer.member("reason", reason)
    writer.member("canRetry", canRetry)
    writer.member("attempts", attempts)
    writer.member("retriesLeft", retriesLeft)
    writer.member("time", time.rfc3339)
    if let name = device?.name { writer.member("name", name) }
    if let agent = device?.agent { writer.member("agent", agent) }
    if let body { writer.member("document", raw: body) }
  }
}
