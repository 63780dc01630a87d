import Lanes
import NIOConcurrencyHelpers

/// Asks each host of the database what it is, several times a second and each on a thread of its own. So a node that only
/// reads learns that another server has become the primary, and knows at any time whether it reaches the database.
final class ServerWatch: Sendable {
  private let watchers: [HostWatcher]
  private let isRunning = NIOLockedValueBox(false)

  /// Creates a watch that asks nobody yet.
  init(_ address: DatabaseAddress) {
    watchers = (0..<address.hostCount).map { HostWatcher($0, of: address) }
  }

  /// Begins to ask. Later calls do nothing.
  func start() {
    let isFirst = isRunning.withLockedValue { isRunning in
      defer { isRunning = true }
      return !isRunning
    }
    guard isFirst else { return }
    for watcher in watchers { Task { await watcher.run() } }
  }

  /// Stops asking and ends the threads.
  func stop() async {
    for watcher in watchers { watcher.end() }
    for watcher in watchers { await watcher.stop() }
  }
}

/// Asks one host.
private actor HostWatcher {
  /// The pause between two questions: 400 ms.
  private static let interval = Duration.milliseconds(400)

  private let host: Int
  private let address: DatabaseAddress
  private let lane: Lane
  private let isOver = NIOLockedValueBox(false)
  private var connection: Connection?

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  init(_ host: Int, of address: DatabaseAddress) {
    self.host = host
    self.address = address
    lane = Lane(name: "host \(host)")
  }

  /// Asks until ``end()``.
  func run() async {
    while !isOver.withLockedValue({ $0 }) {
      ask()
      try? await Task.sleep(for: Self.interval)
    }
    connection = nil
  }

  private func ask() {
    address.servers.begin(host)
    var finding = KnownServers.Finding.refused
    defer { address.servers.end(host, finding) }
    do {
      let connection = try connection ?? address.connectToWatch(host)
      self.connection = connection
      finding = try ServerChecks.primary(connection).map { .primary($0) } ?? .standby
    } catch { connection = nil }
  }

  /// Lets ``run()`` end.
  nonisolated func end() { isOver.withLockedValue { $0 = true } }

  /// Ends the thread.
  nonisolated func stop() async { await lane.stop() }
}
