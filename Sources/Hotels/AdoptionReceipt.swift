import Documents
import Stores

/// A local document in a user's store that records what was adopted from one guest's store. It prevents a second
/// adoption of the same data and makes it possible to undo the adoption.
///
/// `{"adopted":bookmarks,"waiting":[[id,revision]…],"time":milliseconds,"came":[[id,revision]…],"listed":[id…],
/// "members":{…},"undone":true,"claim":text,"again":true}`.
/// Without `waiting`, everything was adopted. `waiting` is `true` until the conflicting revisions are tried for the
/// first time. A third element in an item of `came` says whether the document existed already and was only added to
/// the list. A fourth is the revision that the document had before the guest's hotel was joined to it, a fifth the
/// revision that has the guest's whole hotel. After an undo the guest may be claimed again, with another `claim`; the
/// receipt of the former one then no longer counts, and ``isAgain`` is set in the new one.
struct AdoptionReceipt: Sendable, Equatable {
  /// One revision of one document.
  struct Reference: Sendable, Hashable {
    let id: DocumentID
    let revision: RevisionID
  }

  /// One adopted item.
  struct Came: Sendable, Equatable {
    /// The revision in the user's store.
    let reference: Reference
    /// Whether the document existed already in the user's store and was only added to the list.
    var isListedOnly = false
    /// What the guest's hotel was joined to; nil for a document that came as it was.
    var joined: Joined?
  }

  /// The revisions of a hotel that the user and the guest had both.
  struct Joined: Sendable, Equatable {
    /// The user's revision before.
    let former: RevisionID
    /// The revision that has the guest's whole hotel; nil when the hotel has everything that the guest's said.
    let guests: RevisionID?
  }

  /// How many bookmarks were adopted.
  var bookmarks: Int
  /// The revisions that were not adopted; nil for every revision that the user's store does not have.
  var waiting: Set<Reference>?
  /// When the data was adopted; nil when the adoption can't be undone.
  var time: Timestamp?
  /// What was adopted and not yet removed by an undo.
  var came: [Came] = []
  /// The ids that came to the list without their hotels, and were not yet removed by an undo.
  var listed: [HotelID] = []
  /// The members that came to the list's document beside `hotels`, an object, and were not yet removed by an undo.
  var members: [UInt8]?
  /// Whether an undo is complete or in progress.
  var isUndone = false
  /// Which claim of the guest this is; empty for a receipt that can't be read.
  var claim = ""
  /// Whether the guest was adopted before, and that was undone.
  var isAgain = false

  /// The hotels in which a value of the guest's stands only in an earlier revision.
  var differing: [DifferingHotel] {
    came.compactMap { item in
      guard let guests = item.joined?.guests else { return nil }
      return DifferingHotel(id: item.reference.id.text, revision: guests)
    }
  }
}

extension AdoptionReceipt {
  /// Records adopted items. With more than ``BookmarkLimits/undoneRevisions`` items, the receipt drops them all and
  /// the adoption can't be undone.
  mutating func add(_ more: [Came] = [], listed ids: [HotelID] = []) {
    came += more
    listed += ids
    guard came.count + listed.count > BookmarkLimits.undoneRevisions else { return }
    (time, came, listed) = (nil, [], [])
  }

  /// Reads a receipt as ``body`` wrote it.
  init(_ document: LocalDocument) {
    // The members of a document are one level deeper here.
    let value = try? JSONValue(parsing: document.body, limits: .stored)
    bookmarks = value?["adopted"]?.int ?? 0
    // When the receipt can't be read, everything counts as waiting: adopting a known revision again changes
    // nothing.
    let isWaiting = value.map { $0["waiting"]?.bool == true } ?? true
    waiting =
      isWaiting ? nil : Set(value?["waiting"]?.array?.compactMap(Reference.init) ?? [])
    time = value?["time"]?.int.map { Timestamp(milliseconds: Int64($0)) }
    isUndone = value?["undone"]?.bool ?? false
    claim = value?["claim"]?.string ?? ""
    isAgain = value?["again"]?.bool ?? false
    came = (value?["came"]?.array ?? []).compactMap(Came.init)
    listed = (value?["listed"]?.array ?? []).compactMap { $0.string.flatMap { HotelID($0) } }
    members = value?["members"]?.bytes
  }

  /// The receipt's JSON.
  var body: [UInt8] {
    var object: JSONObject = ["adopted": .number(JSONNumber(bookmarks))]
    if let waiting {
      if !waiting.isEmpty { object["waiting"] = .array(waiting.map { .array($0.texts) }) }
    } else {
      object["waiting"] = .bool(true)
    }
    if let time { object["time"] = .number(JSONNumber(Int(time.milliseconds))) }
    if !came.isEmpty { object["came"] = .array(came.map(\.value)) }
    if !listed.isEmpty { object["listed"] = .array(listed.map { .string($0.text) }) }
    object["members"] = members.flatMap { try? JSONValue(parsing: $0, limits: .request) }
    if isUndone { object["undone"] = .bool(true) }
    object["claim"] = .string(claim)
    if isAgain { object["again"] = .bool(true) }
    return JSONValue.object(object).bytes
  }
}

extension AdoptionReceipt.Reference {
  fileprivate init?(_ pair: JSONValue) {
    guard let id = pair.array?.first?.string, let text = pair.array?.dropFirst().first?.string,
      let revision = try? RevisionID(text)
    else { return nil }
    self.init(id: DocumentID(stored: id), revision: revision)
  }

  fileprivate var texts: [JSONValue] { [.string(id.text), .string(revision.description)] }
}

extension AdoptionReceipt.Came {
  fileprivate init?(_ item: JSONValue) {
    guard let reference = AdoptionReceipt.Reference(item), let parts = item.array else {
      return nil
    }
    let revisions = parts.dropFirst(3).compactMap { part in
      part.string.flatMap { try? RevisionID($0) }
    }
    self.init(
      reference: reference, isListedOnly: parts.count > 2 && parts[2].bool == true,
      joined: revisions.first.map {
        AdoptionReceipt.Joined(former: $0, guests: revisions.dropFirst().first)
      })
  }

  fileprivate var value: JSONValue {
    var parts = reference.texts
    if isListedOnly || joined != nil { parts.append(.bool(isListedOnly)) }
    if let joined {
      parts += [joined.former, joined.guests].compactMap { $0 }.map { .string($0.description) }
    }
    return .array(parts)
  }
}

extension CarriedStore.Revision {
  /// The revision's document id and revision id; nil without a history.
  var reference: AdoptionReceipt.Reference? {
    history.first.map { AdoptionReceipt.Reference(id: id, revision: $0) }
  }
}
