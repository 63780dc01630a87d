import NIOConcurrencyHelpers
import Scheduling
import Stores

/// What nodes tell each other about stores, by `NOTIFY` and `LISTEN`.
///
/// A notice only saves time: nothing depends on its arrival. Notices are collected and sent on a connection of their
/// own, outside every write's transaction, because `NOTIFY` inside a transaction takes a lock of the whole cluster at
/// its commit. Source: <https://www.postgresql.org/docs/current/sql-notify.html>.
enum Notice {
  /// The kind of a notice, the first byte of its line.
  enum Kind: String, Sendable {
    /// Something was committed to the store.
    case changed = "c"
    /// The store was erased or replaced.
    case ended = "e"
  }

  /// The channel of `NOTIFY`.
  static let channel = "hotel_bookmarks"
  /// The longest text of one `NOTIFY`, in bytes. PostgreSQL's limit is 7,999.
  static let longestText = 7_900

  /// The texts of some notices: the sender's id and then a line for each notice.
  static func texts(_ notices: [(Kind, StoreName)], from node: String) -> [String] {
    var (texts, text): ([String], String) = ([], node)
    for (kind, name) in notices {
      let line = "\n" + kind.rawValue + name.key
      if text.utf8.count + line.utf8.count > longestText {
        texts.append(text)
        text = node
      }
      text += line
    }
    return texts + [text]
  }

  /// The changes in a text; nil if this node has sent it itself. Unknown lines are left out.
  static func changes(in text: String, to node: String) -> [RemoteChange]? {
    let lines = text.split(separator: "\n")
    guard let sender = lines.first, sender != node else { return nil }
    return lines.dropFirst().compactMap { line in
      guard let kind = line.first.flatMap({ Kind(rawValue: String($0)) }),
        let name = StoreName(key: String(line.dropFirst()))
      else { return nil }
      return kind == .changed ? .changed(name) : .ended(name)
    }
  }
}

/// Tells the other nodes which stores this node has changed: the first change at once, then at most every
/// ``interval``.
final class NoticeSender: Sendable {
  /// The shortest time between two texts: 10 ms.
  static let interval = Duration.milliseconds(10)

  private struct State {
    var changed: Set<StoreName> = []
    var ended: Set<StoreName> = []
    var isSending = false
    var isClosed = false
  }

  private let node: String
  private let session: Session
  private let state = NIOLockedValueBox(State())

  /// Creates a sender without a connection.
  init(node: String, on session: Session) {
    self.node = node
    self.session = session
  }

  /// Adds a notice. It never waits.
  func add(_ kind: Notice.Kind, _ name: StoreName) {
    let mustStart = state.withLockedValue { state in
      guard !state.isClosed else { return false }
      switch kind {
      case .changed: state.changed.insert(name)
      case .ended: state.ended.insert(name)
      }
      defer { state.isSending = true }
      return !state.isSending
    }
    if mustStart { Work.background { await self.send() } }
  }

  private func send() async {
    while let notices = next() {
      // Together they are one transaction, which waits for no disk and no standby.
      let calls =
        [Call(Self.withoutWaiting)]
        + Notice.texts(notices, from: node).map { text in
          Call(Self.notify, .text(Notice.channel), .text(text))
        }
      // A notice may be lost here. The other nodes also check for changes themselves.
      try? await session.run { connection in _ = try connection.run(calls) }
      try? await Task.sleep(for: Self.interval)
    }
  }

  private func next() -> [(Notice.Kind, StoreName)]? {
    state.withLockedValue { state in
      guard !state.isClosed, !(state.changed.isEmpty && state.ended.isEmpty) else {
        state.isSending = false
        return nil
      }
      defer { (state.changed, state.ended) = ([], []) }
      return state.changed.map { (.changed, $0) } + state.ended.map { (.ended, $0) }
    }
  }

  /// Stops sending and closes the connection.
  func close() async {
    state.withLockedValue { $0.isClosed = true }
    await session.close()
  }

  private static let withoutWaiting = Statement(
    "SELECT set_config('synchronous_commit', 'off', true)")
  private static let notify = Statement("SELECT pg_notify($1, $2)")
}

/// Receives the other nodes' notices, on a thread of its own.
final class NoticeListener: Sendable {
  /// How long the thread waits for a notice before it checks whether it has to stop, in milliseconds.
  private static let step: Int32 = 200
  /// After how many steps without a notice the connection is checked: 2 s.
  private static let quietSteps = 10

  private let node: String
  private let address: DatabaseAddress
  private let threads = ThreadPool(name: "notices")
  private let isStopped = NIOLockedValueBox(false)

  /// Creates a listener that is not connected.
  init(node: String, _ address: DatabaseAddress) {
    self.node = node
    self.address = address
  }

  /// Reports changes until ``stop()``. After each new connection it reports `unknown`, because notices were lost.
  func run(_ report: @escaping @Sendable (RemoteChange) -> Void) async {
    while !isOver {
      await threads.run { try? self.listen(report) }
      if !isOver { try? await Task.sleep(for: .milliseconds(Int(Self.step))) }
    }
  }

  private func listen(_ report: (RemoteChange) -> Void) throws {
    let connection = try address.connect()
    try connection.execute("LISTEN \(Notice.channel)")
    report(.unknown)
    var quiet = 0
    while !isOver {
      let texts = try connection.notifications(within: Self.step)
      quiet = texts.isEmpty ? quiet + 1 : 0
      for text in texts { Notice.changes(in: text, to: node)?.forEach(report) }
      guard quiet == Self.quietSteps else { continue }
      try connection.execute("SELECT 1")
      quiet = 0
    }
  }

  private var isOver: Bool { isStopped.withLockedValue { $0 } }

  /// Ends ``run(_:)`` and the thread.
  func stop() async {
    isStopped.withLockedValue { $0 = true }
    await threads.stop()
  }
}
