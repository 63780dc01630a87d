import Hummingbird
import NIOCore
import Scheduling
import Stores
import Synchronization

/// What a long answer says: a value that is read part by part, each part after the one before it is sent.
protocol LongAnswerForm: Sendable {
  /// What is sent while the answer waits, and how long it waits.
  var rhythm: LongAnswerRhythm { get }

  /// Reads the next part.
  /// - Parameter news: what happened meanwhile, if the answer has waited.
  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart
}

extension LongAnswerForm {
  var rhythm: LongAnswerRhythm { LongAnswerRhythm() }
}

/// The times of an answer that waits.
struct LongAnswerRhythm: Sendable {
  /// The longest time without a byte, after which the heartbeat is sent; nil for none.
  var heartbeat: Duration?
  /// A heartbeat.
  var beat: [UInt8] = []
  /// The longest time without news, after which the answer ends; nil for none.
  var timeout: Duration?
  /// After how long without news it is read again all the same; nil for never.
  var look: Duration?
}

/// Some of a long answer's bytes.
struct LongAnswerPart: Sendable {
  /// What follows a part.
  enum Following: Sendable {
    /// Another part, at once.
    case more
    /// Another part, after news.
    case news
    case nothing
  }

  /// The bytes, in pieces.
  var pieces: [[UInt8]] = []
  let following: Following
  /// The bytes that end the answer after this part; nil if it must not look complete without more.
  var closing: [UInt8]?
  /// The stores of which the reader is told from now on; nil for no change.
  var stores: Set<StoreName>?
}

/// Ends an answer early, so that it does not look complete.
struct IncompleteAnswer: Error {}

/// Writes an answer that waits or is longer than a page, no faster than the client reads it. It holds neither a lease nor a
/// seat while it waits.
///
/// It ends when the client closes the connection, when its store is gone, when the server stops, and when the reader's
/// right has ended: then even in the middle of a part. If it is never written, as for `HEAD`, it gives its place back when
/// it is deallocated.
final class LongAnswer<Form: LongAnswerForm>: Sendable {
  private let subscription: Subscription
  private let feeds: Feeds
  /// The form until it is written, because the connection keeps this object for as long as the answer takes.
  private let form: Mutex<Kept?>

  /// A form behind a reference, so that the frames of the waiting task stay small.
  private final class Kept: Sendable {
    let form: Form

    init(_ form: Form) { self.form = form }
  }

  /// An answer that has its place among the feeds.
  init(_ form: Form, for subscription: Subscription, in feeds: Feeds) {
    (self.subscription, self.feeds) = (subscription, feeds)
    self.form = Mutex(Kept(form))
  }

  deinit { feeds.remove(subscription) }

  /// When news were written last, and when anything was.
  private struct Moments {
    var news = ContinuousClock.now
    var write = ContinuousClock.now

    func due(_ rhythm: LongAnswerRhythm) -> ContinuousClock.Instant? {
      let end = rhythm.timeout.map { news + $0 }
      guard let beat = rhythm.heartbeat.map({ write + $0 }) else { return end }
      return min(beat, end ?? beat)
    }
  }

  /// Writes the whole answer. Parts are read in child tasks, so that the waiting task keeps little memory.
  /// - Throws: the errors of reading and of the connection; ``IncompleteAnswer``.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { feeds.remove(subscription) }
    guard var kept = take() else { throw IncompleteAnswer() }
    // The empty write sends the head.
    try await writer.write(ByteBuffer())
    var (news, moments) = (Subscription.News?.some(.init()), Moments())
    var closing: [UInt8]?
    while let told = news {
      let part: LongAnswerPart
      (kept, part) = try await inChildTask { [kept] in
        var form = kept.form
        let part = try await form.next(after: told)
        return (Kept(form), part)
      }
      if let stores = part.stores { feeds.follow(stores, subscription) }
      if !part.pieces.isEmpty {
        try await send(part.pieces, ofPart: true, to: &writer)
        moments = Moments()
      }
      closing = part.closing
      switch part.following {
      case .nothing: news = nil
      case .more: news = try await isOver(kept.form.rhythm, &moments, &writer) ? nil : .init()
      case .news: news = try await wait(kept.form.rhythm, &moments, &writer)
      }
    }
    guard let closing else { throw IncompleteAnswer() }
    if !closing.isEmpty { try await send([closing], to: &writer) }
    try await writer.finish(nil)
  }

  private func take() -> Kept? {
    form.withLock { form in
      defer { form = nil }
      return form
    }
  }

  /// Between two parts: whether the answer has to end. Sends a heartbeat if one is due.
  /// - Throws: ``IncompleteAnswer`` if the reader may no longer read the next part: the answer must not look complete.
  @concurrent private func isOver(
    _ rhythm: LongAnswerRhythm, _ moments: inout Moments, _ writer: inout any ResponseBodyWriter
  ) async throws -> Bool {
    try checkRight()
    guard subscription.end == nil else { return true }
    try await Slice.giveWay()
    if let heartbeat = rhythm.heartbeat, moments.write + heartbeat <= .now {
      try await beat(rhythm, &moments, &writer)
    }
    return false
  }

  /// Waits for news, and sends heartbeats meanwhile. It returns nil if the answer has to end.
  @concurrent private func wait(
    _ rhythm: LongAnswerRhythm, _ moments: inout Moments, _ writer: inout any ResponseBodyWriter
  ) async throws -> Subscription.News? {
    let look = rhythm.look.map { ContinuousClock.now + $0 }
    Work.current?.resetCost()
    while true {
      switch await subscription.next(by: [moments.due(rhythm), look].compactMap(\.self).min()) {
      case .news(let news): return news
      case .input: continue
      case .end: return nil
      case .due:
        if let timeout = rhythm.timeout, moments.news + timeout <= .now { return nil }
        if let look, look <= .now { return .init() }
        try await beat(rhythm, &moments, &writer)
      }
    }
  }

  @concurrent private func beat(
    _ rhythm: LongAnswerRhythm, _ moments: inout Moments, _ writer: inout any ResponseBodyWriter
  ) async throws {
    try await send([rhythm.beat], to: &writer)
    moments.write = .now
  }

  /// Writes pieces in chunks. The client has to read each of them in time.
  /// - Throws: ``IncompleteAnswer`` for a part that the reader may no longer read.
  @concurrent private func send(
    _ pieces: [[UInt8]], ofPart isPart: Bool = false, to writer: inout any ResponseBodyWriter
  ) async throws {
    var chunk = ByteBuffer()
    for piece in pieces {
      var rest = piece[...]
      while !rest.isEmpty {
        let count = min(rest.count, Feeds.chunkBytes - chunk.readableBytes)
        chunk.writeBytes(rest.prefix(count))
        rest = rest.dropFirst(count)
        guard chunk.readableBytes == Feeds.chunkBytes else { continue }
        try await write(chunk, ofPart: isPart, to: &writer)
        chunk = ByteBuffer()
      }
    }
    if chunk.readableBytes > 0 { try await write(chunk, ofPart: isPart, to: &writer) }
  }

  @concurrent private func write(
    _ chunk: ByteBuffer, ofPart isPart: Bool, to writer: inout any ResponseBodyWriter
  ) async throws {
    if isPart { try checkRight() }
    subscription.note(isWriting: true)
    defer { subscription.note(isWriting: false) }
    Work.current?.addMovedBytes(chunk.readableBytes)
    try await writer.write(chunk)
  }

  private func checkRight() throws {
    if case .notAllowed = subscription.end { throw IncompleteAnswer() }
  }
}
