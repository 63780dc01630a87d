import Documents
import Stores

/// When a guest last used the service, stored in the guest's own store. The stored time is at most ``noteAge``
/// older than the guest's newest token.
///
/// A token is renewed only after this is stored. So when the stored time is old enough, no valid token exists and
/// no one can use the store. The local document's body is `{"at":milliseconds}`.
enum GuestUse {
  static let id = LocalID(receipt: "used")
  /// How long a stored time is not updated, in seconds: half a day.
  static let noteAge: Int64 = 43_200

  /// The stored time; nil when there is none.
  static func moment(in view: any StoreView) throws -> Timestamp? {
    guard let local = try view.local(id),
      let value = try? JSONValue(parsing: local.body, limits: .small), let at = value["at"]?.int
    else { return nil }
    return Timestamp(milliseconds: Int64(at))
  }

  /// Stores a time durably, unless the stored one is less than ``noteAge`` earlier.
  static func note(_ moment: Timestamp, in store: DocumentStore) async throws {
    let known = try await store.readInline { view in try Self.moment(in: view) }
    if let known, moment < known.adding(seconds: noteAge) { return }
    try await store.update(as: .server) { changes in
      let revision = (try changes.local(id)?.revision ?? 0) &+ 1
      let latest = max(moment, try Self.moment(in: changes.view) ?? moment)
      let body: JSONValue = ["at": .number(JSONNumber(Int(latest.milliseconds)))]
      changes.write(LocalEdit(id, LocalDocument(revision: revision, body: body.bytes)))
    }
  }
}

extension AccountStore {
  /// Records that a guest uses the service. Does nothing when the guest has no store.
  func noteUse(of guest: AccountID, at now: Timestamp) async throws {
    try await stores.withStore(.guest(guest), creating: false) { store in
      guard let store else { return }
      try await GuestUse.note(now, in: store)
    }
  }

  /// When a guest last used the service; nil without a store. A store without a stored time, as a new one, gets
  /// one.
  /// - Parameter now: the time that is stored then.
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

/// Until when a guest's store need not be checked, so that the sweep does not have to open every store.
///
/// The system store has a local document `guest-rest/<guest>` for each, which expires at that time. It is only a
/// hint, and the sweep writes it again after each check. When it is missing or expired, the sweep opens the store
/// and reads the guest's last use there. So requests of guests write nothing here, and a crash loses nothing. The
/// sweep reads these documents in the order of the stores in the registry.
enum GuestRest {
  private static let prefix = "guest-rest/"
  private static let note = LocalDocument(revision: 1, body: Array("{}".utf8))

  static func id(of guest: AccountID) -> LocalID { LocalID(receipt: prefix + guest.text) }

  /// The guests of a range that have such a document. One that can't be read is passed over, which costs a visit.
  static func guests(
    from first: AccountID, through last: AccountID, in view: any StoreView
  ) throws -> Set<AccountID> {
    let range = DocumentRange(start: id(of: first).text, end: id(of: last).text)
    let guests = try view.readableLocals(range) { id, _ in
      AccountID(String(decoding: id.text.utf8.suffix(first.text.utf8.count), as: UTF8.self))
    }
    return Set(guests.values)
  }

  /// Records until when a guest's store need not be checked; nil removes the record.
  static func edit(_ guest: AccountID, until moment: Timestamp?) -> LocalEdit {
    LocalEdit(id(of: guest), moment == nil ? nil : note, expires: moment)
  }
}
