import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import IPAddresses
import NIOCore
import Scheduling
import ServiceLifecycle
import Stores
import Synchronization

/// All answers that are being written and that wait or are longer than a page: `_changes`, observers, exports.
///
/// A waiting answer costs little more than its connection. One task for all of them checks the time while there is any.
final class Feeds: Sendable {
  /// The limit of waiting feeds of one principal.
  static let perPrincipal = 256
  /// The limit of waiting feeds from one address, because one person can be many guests and users. The administrator's
  /// don't count here.
  static let perAddress = 2_500
  /// The limit of waiting feeds.
  static let total = 10_000
  /// Bytes that are written at a time. A client has to read them within ``longestWrite``.
  static let chunkBytes = 64 << 10
  /// How long one write to a client may take before its connection is closed.
  static let longestWrite = Duration.seconds(RequestLimits.idleSeconds)
  /// The precision of waits.
  private static let tick = Duration.milliseconds(100)

  private let subscriptions: Subscriptions
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  /// How many sessions of Couchbase Lite are open.
  fileprivate let sessions = Atomic(0)
  var sessionCount: Int { sessions.load(ordering: .relaxed) }

  private struct State {
    var waiting = Places<Subscription>(
      .init(total: total, perAddress: perAddress, perPrincipal: perPrincipal))
    var isTicking = false
  }

  /// No feeds.
  /// - Parameter now: the clock by which rights end.
  init(of subscriptions: Subscriptions, now: @escaping @Sendable () -> Timestamp) {
    (self.subscriptions, self.now) = (subscriptions, now)
  }

  /// How many answers are being written.
  var count: Int { subscriptions.count }

  /// How many of them wait for changes.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// A long answer to a request.
  /// - Parameters:
  ///   - store: the store that is read, with the rights of the reader; of an observer the own one.
  ///   - scope: what an observer reads; nil for a reader of the store.
  ///   - waits: whether the answer waits for changes.
  ///   - length: the bytes of the answer, if they are known.
  /// - Throws: as ``add(_:from:as:)``.
  func response(
    _ form: some LongAnswerForm, to call: Call, from store: CouchStore,
    as scope: Subscription.Scope? = nil, waits: Bool, length: Int? = nil,
    status: HTTPResponse.Status = .ok, _ fields: HTTPFields
  ) throws -> Response {
    let subscription = try subscribe(call, to: scope ?? .store(store.name), waits: waits, store)
    let answer = LongAnswer(form, for: subscription, in: self)
    var fields = fields
    fields[.accelBuffering] = "no"
    return Response(
      status: status, headers: fields,
      body: ResponseBody(contentLength: length) { writer in try await answer.write(to: &writer) })
  }

  /// The change of a connection to Couchbase Lite's protocol, whose session takes a place like a feed.
  /// - Throws: as ``add(_:from:as:)``.
  func response(
    _ connection: LiteConnection, to call: Call, from store: CouchStore, _ fields: HTTPFields
  ) throws -> Response {
    let subscription = try subscribe(call, to: .store(store.name), waits: true, store)
    let place = LiteSessionPlace(subscription, in: self)
    return Response(
      status: .switchingProtocols, headers: fields,
      body: ResponseBody { writer in
        guard let socket = writer as? WebSocketConnection else { throw IncompleteAnswer() }
        try await connection.run(on: socket, place.subscription)
      })
  }

  private func subscribe(
    _ call: Call, to scope: Subscription.Scope, waits: Bool, _ store: CouchStore
  ) throws -> Subscription {
    let channel = call.context.channel
    let subscription = Subscription(
      to: scope, waits: waits, for: store.reader(closing: { channel.close(promise: nil) }))
    try add(subscription, from: store.isAdministrators ? nil : call.address, as: store.principal)
    // Captures the subscription only. The channel may keep this closure longer than the answer, and the answer's end gives
    // the place back.
    DisconnectHandler.onDisconnect(of: channel) { subscription.end(.clientLeft) }
    return subscription
  }

  /// Adds a subscription.
  /// - Parameter address: the address of a guest or a user; nil for the administrator, who is counted by principal only.
  /// - Throws: 429 if the reader, or the reader's address, has too many waiting feeds, and if all places are taken and no
  ///   address has more of them.
  func add(
    _ subscription: Subscription, from address: ClientAddress?, as principal: String
  ) throws {
    if subscription.waits {
      let decision = state.withLock { $0.waiting.take(subscription, from: address, as: principal) }
      guard case .taken(let displaced) = decision else {
        throw ServiceError(
          .tooManyRequests,
          "At most \(Self.perPrincipal) of your feeds may wait at once, \(Self.perAddress) from one "
            + "address, and \(Self.total) in all, of which most addresses have fewer")
      }
      displaced?.end(.displaced)
    }
    subscriptions.add(subscription)
    let mustStart = state.withLock { state in
      defer { state.isTicking = true }
      return !state.isTicking
    }
    if mustStart { Work.background { await self.runTicks() } }
  }

  /// Tells an observer of these stores only, from now on.
  func follow(_ stores: Set<StoreName>, _ subscription: Subscription) {
    subscriptions.follow(stores, subscription)
  }

  /// Removes a subscription; a second call does nothing.
  func remove(_ subscription: Subscription) {
    subscriptions.remove(subscription)
    state.withLock { $0.waiting.give(subscription) }
  }

  private func runTicks() async {
    while let all = ticking() {
      let (now, time) = (ContinuousClock.now, now())
      let isStopping = Task.isShuttingDownGracefully
      for subscription in all {
        if isStopping, subscription.waits { subscription.end(.stopping) }
        subscription.tick(now, time, longestWrite: Self.longestWrite)
      }
      try? await Task.sleep(for: Self.tick)
    }
  }

  /// All subscriptions; nil if there are none, so that the calling task ends.
  private func ticking() -> [Subscription]? {
    state.withLock { state in
      let all = subscriptions.all
      state.isTicking = !all.isEmpty
      return all.isEmpty ? nil : all
    }
  }
}

/// The place of a session among the feeds. It is given back at the session's end, or when nobody runs the session.
private final class LiteSessionPlace: Sendable {
  let subscription: Subscription
  private let feeds: Feeds

  init(_ subscription: Subscription, in feeds: Feeds) {
    (self.subscription, self.feeds) = (subscription, feeds)
    feeds.sessions.add(1, ordering: .relaxed)
  }

  deinit {
    feeds.sessions.subtract(1, ordering: .relaxed)
    feeds.remove(subscription)
  }
}
