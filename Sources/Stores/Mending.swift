import Documents

/// What looking for damage in a store came to.
package struct Mending: Sendable, Equatable {
  /// Whether what can't be computed back is set aside, or left as it is.
  package enum Extent: Sendable {
    /// An older body, another branch or nothing takes the place of what is lost.
    case everything
    /// Only what loses nothing.
    case withoutLoss
  }

  /// Rows that are again what was written.
  package var mended = 0
  /// Revisions that were set aside.
  package var lost: [Damage] = []
  /// Bodies of ancestors, local documents and query indexes that were dropped: nobody needs the first, and clients
  /// and the service make the others anew.
  package var dropped = 0
  /// Rows that are damaged still.
  package var left = 0

  /// Nothing found.
  package init() {}

  /// Whether the store was changed.
  package var hasChanged: Bool { mended > 0 || !lost.isEmpty || dropped > 0 }
  /// How much damage there was.
  package var count: Int { mended + lost.count + dropped + left }

  /// Adds what was found elsewhere.
  package static func += (sum: inout Mending, other: Mending) {
    sum.mended += other.mended
    sum.lost += other.lost
    sum.dropped += other.dropped
    sum.left += other.left
  }
}

extension DocumentStore {
  /// Looks through the store, mends what is damaged and sets aside what can't be.
  ///
  /// The accounts' store is never guessed at: an older body could be an older password, and a name whose account was
  /// set aside would be free.
  @discardableResult
  package func mend(pause: Duration = .zero) async throws(StoreError) -> Mending {
    let mending = try await storage.mend(
      name == .system ? .withoutLoss : .everything, at: now(), pause: pause)
    guard mending.hasChanged else { return mending }
    feed.wake()
    // What it could not do now, the next look at the document does; what was set aside stays so.
    if !mending.lost.isEmpty { try? await follower.restore(self, mending.lost) }
    return mending
  }

  /// Runs work, and once more where damage was in its way that could be mended.
  func mending<Value: Sendable>(
    _ work: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    do throws(StoreError) { return try await work() } catch {
      guard await hasMended(after: error) else { throw error }
    }
    return try await work()
  }

  /// Whether damage was the reason for an error and is out of the way now. What belongs to the accounts waits for the
  /// scrub: to look through all of it for one log-in would be dear.
  func hasMended(after error: StoreError) async -> Bool {
    guard error.code == .integrity, name != .system else { return false }
    return (try? await mend().hasChanged) ?? false
  }
}
