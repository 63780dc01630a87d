package import Documents

/// A revision of a document whose body or history is not what was written and could not be computed back. Its bytes
/// are set aside in a local document, so that everything else goes on.
///
/// It is part of what a store tells about itself until somebody writes the document anew or ``keptSeconds`` have
/// passed.
package struct Damage: Sendable, Equatable {
  /// How long the bytes are kept: 90 days.
  package static let keptSeconds: Int64 = 90 * 86_400
  /// How many are told of at once, at most.
  package static let maximumNamed = 100

  /// The document; what is known of its id where that is damaged, too.
  package let id: String
  /// The revision that is lost, as it stood in the row.
  package let revision: String
  /// The revision that stands for the document since: an ancestor's body or another branch; nil for none.
  package let restored: RevisionID?
  /// When it was found.
  package let found: Timestamp

  /// A loss.
  package init(id: String, revision: String, restored: RevisionID?, found: Timestamp) {
    self.id = id
    self.revision = revision
    self.restored = restored
    self.found = found
  }
}

extension Damage {
  /// The local document that keeps the loss: one line of JSON, and behind it the bytes as they were found.
  package func note(with bytes: [UInt8]) -> LocalDocument {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("id", id)
    writer.member("rev", revision)
    if let restored { writer.member("restored", restored.description) }
    writer.member("found", Int(found.milliseconds))
    writer.endObject()
    return LocalDocument(revision: 1, body: writer.bytes + [0x0A] + bytes)
  }

  /// Reads such a document; nil for any other.
  init?(_ note: LocalDocument) {
    let line = note.body.prefix { $0 != 0x0A }
    guard let root = try? ParsedJSON(Array(line), limits: .request).root,
      let id = root["id"]?.string, let revision = root["rev"]?.string,
      let found = root["found"]?.int
    else { return nil }
    self.init(
      id: id, revision: revision,
      restored: (root["restored"]?.string).flatMap { try? RevisionID($0) },
      found: Timestamp(milliseconds: Int64(found)))
  }

}

extension JSONWriter {
  /// The member `damaged`, for whom a store belongs to: what it has lost, by document.
  package mutating func damaged(_ damage: [Damage]) {
    name("damaged")
    beginArray()
    for loss in damage {
      beginObject()
      member("id", loss.id)
      member("rev", loss.revision)
      if let restored = loss.restored { member("restored", restored.description) }
      member("found", loss.found.rfc3339)
      endObject()
    }
    endArray()
  }
}

extension LocalID {
  /// What the ids of damage that was set aside start with.
  package static let damagePrefix = receiptPrefix + "damaged/"

  /// A place for bytes that are set aside.
  /// - Parameter number: the store's next sequence number then; `part` tells apart what has the same.
  package init(damage number: Int64, part: Int) {
    self.init(receipt: "damaged/\(number)-\(part)")
  }
}

extension StoreView {
  /// What the store has lost to damage and nobody has written anew, ``Damage/maximumNamed`` at most.
  package func damage() throws(StoreError) -> [Damage] {
    var notes: [Damage] = []
    // The byte after a slash is a nought.
    let range = DocumentRange(
      start: LocalID.damagePrefix, end: String(LocalID.damagePrefix.dropLast()) + "0")
    try locals(range) { _, note throws(StoreError) in
      if let damage = Damage(note) { notes.append(damage) }
      return notes.count < 2 * Damage.maximumNamed
    }
    var open: [Damage] = []
    for damage in notes where open.count < Damage.maximumNamed {
      // Only its history is lost.
      guard damage.restored?.description != damage.revision else { continue }
      let stands = try document(DocumentID(stored: damage.id))?.revision
      if stands == damage.restored { open.append(damage) }
    }
    return open
  }
}
