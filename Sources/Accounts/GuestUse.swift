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
  private static let noteAge: Int64 = 43_200

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
