package import Documents
import NIOConcurrencyHelpers
import Scheduling

/// A reader of the changes of one store or of several. Where it is, and which changes it wants, only its answer knows.
///
/// It is told that something was committed, and that its rights may have changed; nothing else. So what it is told costs
/// no more memory however slowly it reads, and it misses nothing: it reads on by sequence number.
package final class Subscription: Sendable {
  /// Who reads, and until when.
  package struct Reader: Sendable {
    /// Who reads, whatever the credentials.
    package let author: Author
    /// From which device; nil if that says nothing of itself.
    package let device: DeviceLabel?
    /// Identifies the right to read; of readers with the same text one is asked about.
    package let right: String
    /// When the right ends by itself; nil for never.
    package let goodUntil: Timestamp?
    /// Whether the right exists. An error counts as no.
    package let mayRead: @Sendable () async throws -> Bool
    /// Ends a connection whose client does not read.
    package let closeConnection: @Sendable () -> Void

    package init(
      author: Author, device: DeviceLabel? = nil, right: String, goodUntil: Timestamp? = nil,
      mayRead: @escaping @Sendable () async throws -> Bool,
      closeConnection: @escaping @Sendable () -> Void
    ) {
      (self.author, self.device) = (author, device)
      (self.right, self.goodUntil) = (right, goodUntil)
      (self.mayRead, self.closeConnection) = (mayRead, closeConnection)
    }
  }

  /// What the reader reads.
  package enum Scope: Sendable, Equatable {
    /// One store. The end of the store ends the answer.
    case store(StoreName)
    /// A person's own store and lists, which come and go. At first it is told of these.
    case person(reading: Set<StoreName>)

    var stores: Set<StoreName> {
      switch self {
      case .store(let store): [store]
      case .person(let stores): stores
      }
    }

    fileprivate var isPersons: Bool { if case .person = self { true } else { false } }
  }

  /// What was told since the reader last asked.
  package struct News: Sendable, Equatable {
    /// The stores with commits, and those that are gone: there may be others of their names.
    package var stores: Set<StoreName> = []
    /// Whether lists may have been joined or left.
    package var rights = false

    package init() {}

    fileprivate var isEmpty: Bool { stores.isEmpty && !rights }
  }

  /// Why the reader is woken.
  package enum Wake: Sendable, Equatable {
    case news(News)
    /// Something has come from the client (``Subscription/noteInput()``).
    case input
    /// The time for which it waited has come.
    case due
    /// The answer has to end.
    case end
  }

  /// Why an answer ends before it is complete.
  package enum End: Sendable {
    /// The client has closed the connection.
    case clientLeft
    /// The reader may no longer read.
    case notAllowed
    /// The store is gone.
    case erased
    /// The server stops.
    case stopping
    /// Another address needed the place.
    case displaced
  }

  /// How long a client that does not read may delay the end of its answer.
  package static let grace = Duration.seconds(1)

  package let reader: Reader
  package let scope: Scope
  /// Whether the answer waits for changes. If not, it is only longer than a page.
  package let waits: Bool
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let state = NIOLockedValueBox(State())

  private struct State {
    var news = News()
    var hasInput = false
    var end: End?
    var endMoment: ContinuousClock.Instant?
    var due: ContinuousClock.Instant?
    var writeMoment: ContinuousClock.Instant?

    /// Whether a write takes too long.
    func isStuck(_ now: ContinuousClock.Instant, _ longestWrite: Duration) -> Bool {
      guard let writeMoment else { return false }
      if let endMoment { return now - endMoment >= grace }
      return now - writeMoment >= longestWrite
    }
  }

  /// A subscription that is told nothing before it is added to ``Subscriptions``.
  package init(to scope: Scope, waits: Bool, for reader: Reader) {
    (self.scope, self.waits, self.reader) = (scope, waits, reader)
    (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Waits for news.
  /// - Parameter due: the moment at which to wake without news; nil for none.
  package func next(by due: ContinuousClock.Instant?) async -> Wake {
    while true {
      let wake: Wake? = state.withLockedValue { state in
        if state.end != nil { return .end }
        if state.hasInput {
          state.hasInput = false
          return .input
        }
        if let due, due <= .now { return .due }
        guard state.news.isEmpty else {
          defer { state.news = News() }
          return .news(state.news)
        }
        state.due = due
        return nil
      }
      if let wake { return wake }
      let signal: Void? = await Work.waiting {
        var signals = stream.makeAsyncIterator()
        return await signals.next()
      }
      if signal == nil { return .end }
    }
  }

  /// Wakes the reader because something has come from its client.
  package func noteInput() {
    state.withLockedValue { $0.hasInput = true }
    continuation.yield()
  }

  /// Tells of commits to stores.
  func tell(of stores: some Sequence<StoreName>) {
    state.withLockedValue { $0.news.stores.formUnion(stores) }
    continuation.yield()
  }

  /// Tells that the right to read exists after it may have changed. For a reader of one store that is no news.
  func tellOfRights() {
    guard scope.isPersons else { return }
    state.withLockedValue { $0.news.rights = true }
    continuation.yield()
  }

  /// Tells that a store is gone.
  func lose(_ store: StoreName) {
    if scope.isPersons { tell(of: [store]) } else { end(.erased) }
  }

  /// Ends the answer; only the first reason counts.
  package func end(_ reason: End) {
    state.withLockedValue { state in
      guard state.end == nil else { return }
      state.end = reason
      state.endMoment = .now
    }
    continuation.finish()
  }

  /// Why the answer has to end; nil while it may continue.
  package var end: End? { state.withLockedValue(\.end) }

  /// Notes that a write to the client begins, or has ended.
  package func note(isWriting: Bool) {
    state.withLockedValue { $0.writeMoment = isWriting ? .now : nil }
  }

  /// Checks the time: wakes the reader at its moment, ends it with its right, and closes the connection of a client that
  /// does not read.
  /// - Parameter longestWrite: how long one write to the client may take.
  package func tick(_ now: ContinuousClock.Instant, _ time: Timestamp, longestWrite: Duration) {
    if let goodUntil = reader.goodUntil, goodUntil <= time { end(.notAllowed) }
    let (isDue, isStuck) = state.withLockedValue { state in
      let isDue = state.due.map { $0 <= now } ?? false
      if isDue { state.due = nil }
      return (isDue, state.isStuck(now, longestWrite))
    }
    if isStuck { reader.closeConnection() }
    if isDue { continuation.yield() }
  }
}
