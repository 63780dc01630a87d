package import Documents

/// Who brought a revision to a store. An account is its id, which names nobody: a store that others share keeps no
/// name of somebody whose account is gone.
package enum Author: Sendable, Hashable {
  /// A guest.
  case guest(AccountID)
  /// A user.
  case user(AccountID)
  /// The one whom the configuration names.
  case administrator
  /// The service itself: a merge, newer facts of the upstream.
  case server

  /// Who asks for what the current task does. `RequestRouter` sets it once it knows who calls, ``DocumentStore``
  /// reads it for each update; what no request asks for is the server's.
  @TaskLocal package static var current = Author.server
}

/// When a revision came to a store, and who brought it.
package struct Arrival: Sendable, Hashable {
  /// The store's clock then.
  package let time: Timestamp
  /// Who wrote the revision here, or delivered it by sync.
  package let author: Author

  /// An arrival.
  package init(time: Timestamp, author: Author) {
    self.time = time
    self.author = author
  }
}

/// What a store knows of a revision whose body it keeps, beside the body.
package struct KeptRevision: Sendable, Equatable {
  /// When it came; nil for one that was stored before this was noted.
  package let arrival: Arrival?

  /// A revision as read.
  package init(arrival: Arrival?) { self.arrival = arrival }
}

/// What the service writes by itself behind somebody's write: merges, notes of a step that is to follow. Its author is the
/// server, and it is never the answer to that write.
package enum Upkeep {
  /// Runs what writes by itself.
  nonisolated(nonsending) package static func run<Value>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await Author.$current.withValue(.server) {
      try await WriteReceipt.$current.withValue(nil) { try await body() }
    }
  }
}
