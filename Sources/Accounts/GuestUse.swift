import Documents
import JSON
import Stores

/// When a guest was last here, as the guest's own store notes it: a moment after which no token was issued, or a later
/// one.
///
/// A token is renewed only after this is noted, so that a store whose note is older than a token lives is nobody's.
/// The local document's body is `{"at":milliseconds}`.
enum GuestUse {
  /// The local document.
  static let id = LocalID(receipt: "used")
  /// How long one note stands for what follows, in seconds: half a day.
  static let noteAge: Int64 = 43_200

  /// What is noted; nil for nothing.
  static func moment(in view: any StoreView) throws -> Timestamp? {
    guard let local = try view.local(id),
      let value = try? JSONValue(parsing: local.body, limits: .small), let at = value["at"]?.int
    else { return nil }
    return Timestamp(milliseconds: Int64(at))
  }

  /// Notes a moment, durably, unless one is noted that is nearly as late.
  static func note(_ moment: Timestamp, in store: DocumentStore) async throws {
    let known = try await store.readInline { view in try Self.moment(in: view) }
    if let known, moment < known.adding(seconds: noteAge) { return }
    try await store.update { changes in
      let revision = (try changes.local(id)?.revision ?? 0) &+ 1
      let latest = max(moment, try Self.moment(in: changes.view) ?? moment)
      let body: JSONValue = ["at": .number(JSONNumber(Int(latest.milliseconds)))]
      changes.write(LocalEdit(id, LocalDocument(revision: revision, body: body.bytes)))
    }
  }
}

extension AccountStore {
  /// Notes that a guest is here, if there is a store that could outlive the guest.
  func noteUse(of guest: AccountID, at now: Timestamp) async throws {
    try await stores.withStore(.guest(guest), creating: false) { store in
      guard let store else { return }
      try await GuestUse.note(now, in: store)
    }
  }

  /// When a guest was last here; nil where there is no store. A store without a note, as a new one is, gets one.
  /// - Parameter now: what is noted then.
  func lastUse(of guest: AccountID, noting now: Timestamp) async throws -> Timestamp? {
    try await stores.visit(.guest(guest)) { store -> Timestamp? in
      guard let store else { return nil }
      let known = try await store.readInline { view in
        try GuestUse.moment(in: view)
      }
      if let known { return known }
      try await GuestUse.note(now, in: store)
      return now
    }
  }
}

/// Until when a guest's store need not be looked at: what spares the sweep to open them all.
///
/// The system store has a local document for each, `guest-rest/<guest>`, which expires at that moment. It is a hint that
/// is made anew whenever the sweep has looked: where it is missing or has expired, the store is opened and says itself
/// when the guest was last here. So the guest's requests write nothing here, a crash loses nothing, and the sweep reads
/// these notes in the order in which the registry has the stores.
enum GuestRest {
  private static let prefix = "guest-rest/"
  private static let note = LocalDocument(revision: 1, body: Array("{}".utf8))

  /// A guest's.
  static func id(of guest: AccountID) -> LocalID { LocalID(receipt: prefix + guest.text) }

  /// The guests of a range, in the order of their ids, that have such a note.
  static func guests(
    from first: AccountID, through last: AccountID, in view: any StoreView
  ) throws -> Set<AccountID> {
    var guests: Set<AccountID> = []
    try view.locals(DocumentRange(start: id(of: first).text, end: id(of: last).text)) { id, _ in
      let guest = String(decoding: id.text.utf8.suffix(first.text.utf8.count), as: UTF8.self)
      if let guest = AccountID(guest) { guests.insert(guest) }
      return true
    }
    return guests
  }

  /// Notes until when a guest's store need not be looked at; nil to forget the note.
  static func edit(_ guest: AccountID, until moment: Timestamp?) -> LocalEdit {
    LocalEdit(id(of: guest), moment == nil ? nil : note, expires: moment)
  }
}
