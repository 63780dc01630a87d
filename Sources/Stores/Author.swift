package import Documents

/// Who wrote a revision to a store. An account is stored as its id, not its name: a shared store then keeps
/// no name of a person whose account was erased.
package enum Author: Sendable, Hashable {
  case guest(AccountID)
  case user(AccountID)
  /// The administrator from the configuration.
  case administrator
  /// The service itself: a merge, or newer facts of the upstream.
  case server
}

/// When a revision came to a store, and who wrote or delivered it.
package struct Arrival: Sendable, Hashable {
  /// The time of the store's clock.
  package let time: Timestamp
  /// Who wrote the revision here, or delivered it by sync.
  package let author: Author

  package init(time: Timestamp, author: Author) {
    self.time = time
    self.author = author
  }
}

/// What a store knows of a revision whose body it keeps, apart from the body.
package struct KeptRevision: Sendable, Equatable {
  /// When the revision came and from whom; nil for a revision that was stored before arrivals were recorded.
  package let arrival: Arrival?

  package init(arrival: Arrival?) { self.arrival = arrival }
}
