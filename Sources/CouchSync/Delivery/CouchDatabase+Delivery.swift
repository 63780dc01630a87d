package import Documents
package import Stores

/// The delivery ledger of one person in one store: which devices have what, and what was refused. It is read from the
/// devices' own checkpoints, so that no write of a document pays for it.
extension CouchDatabase {
  /// The most devices that are answered, those seen last.
  package static let mostDevices = 100
  /// The most changes that are counted for a device.
  package static let mostCounted = 1_000

  /// The person's devices, the one seen last first, each with how many changes it has not confirmed.
  package func devices() async throws -> [(device: SyncDevice, pending: Int)] {
    try await store.each(Array(try await allDevices().prefix(Self.mostDevices))) { device, view in
      guard let position = device.position else { return (device, 0) }
      let changes = try view.changes(after: position, limit: Self.mostCounted)
      return (device, changes.count { device.takes($0) })
    }
  }

  private func allDevices() async throws -> [SyncDevice] {
    let (store, author) = (store, context.author)
    return try await store.read(inSlices: DeviceReader()) { reader, view in
      try reader.read(view, of: author, in: store)
    }
  }

  /// One of the person's devices.
  /// - Throws: 404 `missing`.
  package func device(_ id: String) async throws -> SyncDevice {
    guard let device = try await allDevices().first(where: { $0.id.equalsBytes(of: id) }) else {
      throw ServiceError(.missing, "There is no such device")
    }
    return device
  }

  /// Notes that a copy of `GET /v1/mirror` has all changes up to a position: as a checkpoint, which is written only when
  /// the position or the day is another one.
  /// - Parameter copy: identifies the copy among all of the store.
  package func noteMirror(of copy: String, at sequence: Int64) async throws {
    let id = LocalID(stored: SyncDevice.mirrorPrefix + Hex.digest(of: copy, digits: 32))
    let (tag, day) = (StoreTag(store.name), store.now().day)
    let isKnown = try await store.readInline { view in
      let token = SinceToken.at(sequence, in: try view.info(), of: tag).text
      return try view.local(id)?.body == SyncDevice.checkpoint(token, on: day)
    }
    guard !isKnown else { return }
    try await store.update(as: context) { changes in
      let token = SinceToken.at(sequence, in: try changes.view.info(), of: tag).text
      let body = SyncDevice.checkpoint(token, on: day)
      changes.write(LocalEdit(id, LocalDocument(revision: 1, body: body)))
    }
  }

  /// Documents by how far they have come to a device: those not confirmed in the order of their changes, those
  /// confirmed in the reverse order.
  /// - Parameter position: the sequence after or before which the page begins; nil for the first page.
  /// - Returns: those that the device's software takes, and where the next page begins; nil for no other page.
  package func changes(
    isDelivered: Bool, to device: SyncDevice, from position: Int64?, limit: Int
  ) async throws -> (page: [Change], next: Int64?) {
    guard let confirmed = device.position else { return ([], nil) }
    let changes = try await store.read { view in
      isDelivered
        ? try view.changes(upTo: min(position.map { $0 - 1 } ?? .max, confirmed), limit: limit)
        : try view.changes(after: max(position ?? 0, confirmed), limit: limit)
    }
    return (
      changes.filter { device.takes($0) },
      changes.count == limit ? changes.last?.sequence : nil
    )
  }

  /// What was refused of the person's devices and is still missing here, the last first.
  package func refused() async throws -> [RefusedRevision] {
    guard let folder = RefusedRevision.folder(of: context.author) else { return [] }
    let all = try await store.localValues(.below(folder)) { _, note, _ in RefusedRevision(note) }
    let missing = try await store.each(all) { refused, view in
      refused.isMissing(in: try view.tree(refused.id)) ? refused : nil
    }
    return missing.compactMap(\.self).sorted { $0.time > $1.time }
  }

  /// Why a document is where it is.
  /// - Parameter revision: nil for what was refused of the document, or else its winner.
  package func explain(
    _ id: DocumentID, _ revision: RevisionID?
  ) async throws -> DeliveredDocument {
    let author = context.author
    return try await store.read { view in
      try DeliveredDocument(id, revision, by: author, in: view)
    }
  }

  /// How a document is on each of some devices.
  /// - Parameter connected: the devices that read changes at present.
  package func deliveries(
    of document: DeliveredDocument, to devices: [SyncDevice], connected: Set<DeviceLabel>,
    at now: Timestamp
  ) async throws -> [Delivery] {
    try await store.each(devices) { device, view in
      let isConnected = device.label.map(connected.contains) ?? false
      var ahead = 0
      if let position = device.position, let winner = document.winner {
        let before = try view.changes(after: position, limit: Self.mostCounted)
        ahead = before.prefix { $0.sequence < winner.sequence }.count { device.takes($0) }
      }
      return document.delivery(to: device, isConnected: isConnected, ahead: ahead, at: now)
    }
  }

  /// Writes again what was refused of a document.
  /// - Parameter isAutomatic: whether nobody asked for it. Then a document that was deleted stays deleted, and the
  ///   refused revision waits for the person.
  /// - Returns: its revision.
  /// - Throws: 404 `missing`; 409 `conflict` for one that was not kept whole; the errors of the write.
  package func retry(
    _ id: DocumentID, isAutomatic: Bool = false, answer: @escaping Answering<RevisionID>
  ) async throws -> RevisionID {
    if let refusal = refusal(of: id) { throw refusal }
    let (store, author, rule) = (store, context.author, rule)
    let write = { @Sendable (changes: inout StoreChanges) throws -> RevisionID in
      guard let refused = try RefusedRevision.find(id, by: author, in: changes.view) else {
        throw Self.nothingRefused
      }
      guard refused.canRetry, let body = refused.body else {
        throw ServiceError(
          .conflict, "It is not kept whole here: only the device that made it can send it again")
      }
      if isAutomatic, try refused.revives(in: changes.view) {
        changes.note(refused.parked, of: author)
        return refused.revision
      }
      let write = DocumentWrite(
        of: id, DocumentBody(readingBack: body), isDeleted: refused.isDeleted, refused.history)
      if let refusal = try rule.refusal(of: write, in: changes.view) { throw refusal }
      let limits = try store.historyLimits(in: changes.view)
      let revision = try write.record(in: &changes, limit: limits)
      try changes.dropRefused(id, of: author)
      return revision ?? refused.revision
    }
    return try await store.update(loading: [id], as: context, answer: answer, write)
  }

  /// Drops what was refused of a document.
  /// - Throws: 404 `missing`.
  package func drop(_ id: DocumentID, answer: @escaping Answering<Void>) async throws {
    let author = context.author
    try await store.update(as: context, answer: answer) { changes in
      guard try changes.dropRefused(id, of: author) else { throw Self.nothingRefused }
    }
  }

  private static let nothingRefused = ServiceError(
    .missing, "Nothing is kept that was refused of this document")
}
