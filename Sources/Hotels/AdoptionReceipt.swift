import Documents
import Stores

/// What a user's store keeps of a guest's that was taken over, so that nothing of it comes twice.
///
/// `{"adopted":bookmarks,"waiting":[[id,revision]…]}`. Without `waiting` all of it has come; it is `true` until
/// the conflicting revisions have been tried for the first time.
struct AdoptionReceipt: Sendable, Equatable {
  /// One revision of one document.
  struct Place: Sendable, Hashable {
    let id: DocumentID
    let revision: RevisionID
  }

  /// How many bookmarks came.
  let bookmarks: Int
  /// What has not come; nil for whatever the user's store does not know.
  let waiting: Set<Place>?

  /// The receipt of what came.
  init(bookmarks: Int, waiting: Set<Place>?) {
    self.bookmarks = bookmarks
    self.waiting = waiting
  }

  /// Reads a receipt as ``body`` wrote it.
  init(_ document: LocalDocument) {
    let value = try? JSONValue(parsing: document.body, limits: .request)
    bookmarks = value?["adopted"]?.int ?? 0
    // What can't be read may be waiting: taking a known revision again changes nothing.
    guard let value, value["waiting"]?.bool != true else {
      waiting = nil
      return
    }
    var places: Set<Place> = []
    for pair in value["waiting"]?.array ?? [] {
      guard let id = pair.array?.first?.string, let text = pair.array?.last?.string,
        let revision = try? RevisionID(text)
      else { continue }
      places.insert(Place(id: DocumentID(stored: id), revision: revision))
    }
    waiting = places
  }

  /// The receipt's JSON.
  var body: [UInt8] {
    var members: JSONObject = ["adopted": .number(JSONNumber(bookmarks))]
    if let waiting {
      let pairs = waiting.map { [$0.id.text, $0.revision.description] }
      if !pairs.isEmpty {
        members["waiting"] = .array(pairs.map { .array($0.map { .string($0) }) })
      }
    } else {
      members["waiting"] = .bool(true)
    }
    return JSONValue.object(members).bytes
  }
}

extension CarriedStore.Revision {
  /// Which revision this is.
  var place: AdoptionReceipt.Place? {
    history.first.map { AdoptionReceipt.Place(id: id, revision: $0) }
  }
}
