package import Documents

/// What a store notes of a writer's local document: `{"at","bytes","checkpoint","device"?,"agent"?}`.
package struct LocalRecord: Sendable, Equatable {
  package let id: LocalID
  /// When it was last written.
  package let written: Timestamp
  /// The bytes of its body.
  let bytes: Int64
  /// Whether it has the shape of a checkpoint.
  package let isCheckpoint: Bool
  /// What wrote it last; nil if that said nothing of itself.
  package let device: DeviceLabel?

  init(
    id: LocalID, written: Timestamp, bytes: Int64, isCheckpoint: Bool, device: DeviceLabel? = nil
  ) {
    (self.id, self.written, self.bytes) = (id, written, bytes)
    (self.isCheckpoint, self.device) = (isCheckpoint, device)
  }

  /// Reads a note.
  /// - Parameter folder: the prefix of its id, before the document's.
  init?(_ note: LocalDocument, _ id: LocalID, below folder: String) {
    guard let root = try? ParsedJSON(note.body, limits: .small).root else { return nil }
    self.id = LocalID(of: id, below: folder)
    written = Timestamp(milliseconds: Int64(root["at"]?.int ?? 0))
    bytes = Int64(root["bytes"]?.int ?? 0)
    isCheckpoint = root["checkpoint"]?.bool ?? false
    device = DeviceLabel(name: root["device"]?.string, agent: root["agent"]?.string)
  }

  /// The note.
  var json: [UInt8] {
    return JSONWriter.object { writer in
      writer.member("at", Int(clamping: written.milliseconds))
      writer.member("bytes", Int(clamping: bytes))
      writer.member("checkpoint", isCheckpoint)
      if let name = device?.name { writer.member("device", name) }
      if let agent = device?.agent { writer.member("agent", agent) }
    }
  }
}

extension StoreView {
  /// The checkpoints that a person's devices have in a store, at most ``StoreLimits/checkpoints``.
  package func checkpoints(
    of author: Author, in store: StoreName, within limits: StoreLimits
  ) throws -> [LocalRecord] {
    try LocalShare(of: author, in: store, limits)?.records(in: self).filter(\.isCheckpoint) ?? []
  }
}
