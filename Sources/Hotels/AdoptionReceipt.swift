import Documents
import JSON
import Stores

/// What a user's store keeps of a guest's that was taken over, so that nothing of it comes twice, and all of it can go
/// again.
///
/// `{"adopted":bookmarks,"waiting":[[id,revision]…],"time":milliseconds,"came":[[id,revision]…],"undone":true}`. Without
/// `waiting` all of it has come; it is `true` until the conflicting revisions have been tried for the first time. A third
/// element in `came` says that the document was there, and was put on the list alone.
struct AdoptionReceipt: Sendable, Equatable {
  /// One revision of one document.
  struct Place: Sendable, Hashable {
    let id: DocumentID
    let revision: RevisionID
  }

  /// Something that came.
  struct Came: Sendable, Equatable {
    /// What stands for it in the user's store.
    let place: Place
    /// Whether the document was there already, and only its place on the list came.
    var isListedOnly = false
  }

  /// How many bookmarks came.
  var bookmarks: Int
  /// What has not come; nil for whatever the user's store does not know.
  var waiting: Set<Place>?
  /// When it came; nil for what can't be undone.
  var time: Timestamp?
  /// What came and has not gone again.
  var came: [Came] = []
  /// Whether it is undone, or about to be.
  var isUndone = false

  /// The receipt of what came.
  init(bookmarks: Int, waiting: Set<Place>?) {
    self.bookmarks = bookmarks
    self.waiting = waiting
  }

  /// Notes what came. What is too much to be noted can't be undone.
  mutating func add(_ more: [Came]) {
    came += more
    guard came.count > BookmarkLimits.undoneRevisions else { return }
    (time, came) = (nil, [])
  }

  /// Reads a receipt as ``body`` wrote it.
  init(_ document: LocalDocument) {
    let value = try? JSONValue(parsing: document.body, limits: .request)
    bookmarks = value?["adopted"]?.int ?? 0
    // What can't be read may be waiting: taking a known revision again changes nothing.
    guard let value, value["waiting"]?.bool != true else {
      waiting = nil
      if let value { readUndo(value) }
      return
    }
    waiting = Set(value["waiting"]?.array?.compactMap(Place.init) ?? [])
    readUndo(value)
  }

  private mutating func readUndo(_ value: JSONValue) {
    time = value["time"]?.int.map { Timestamp(milliseconds: Int64($0)) }
    isUndone = value["undone"]?.bool ?? false
    for item in value["came"]?.array ?? [] {
      guard let place = Place(item) else { continue }
      came.append(Came(place: place, isListedOnly: item.array?.count == 3))
    }
  }

  /// The receipt's JSON.
  var body: [UInt8] {
    var members: JSONObject = ["adopted": .number(JSONNumber(bookmarks))]
    if let waiting {
      if !waiting.isEmpty { members["waiting"] = .array(waiting.map { .array($0.texts) }) }
    } else {
      members["waiting"] = .bool(true)
    }
    if let time { members["time"] = .number(JSONNumber(Int(time.milliseconds))) }
    if !came.isEmpty {
      members["came"] = .array(
        came.map { .array($0.place.texts + ($0.isListedOnly ? [.bool(true)] : [])) })
    }
    if isUndone { members["undone"] = .bool(true) }
    return JSONValue.object(members).bytes
  }
}

extension AdoptionReceipt.Place {
  fileprivate init?(_ pair: JSONValue) {
    guard let id = pair.array?.first?.string, let text = pair.array?.dropFirst().first?.string,
      let revision = try? RevisionID(text)
    else { return nil }
    self.init(id: DocumentID(stored: id), revision: revision)
  }

  fileprivate var texts: [JSONValue] { [.string(id.text), .string(revision.description)] }
}

extension CarriedStore.Revision {
  /// Which revision this is.
  var place: AdoptionReceipt.Place? {
    history.first.map { AdoptionReceipt.Place(id: id, revision: $0) }
  }
}
