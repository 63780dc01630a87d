import NIOConcurrencyHelpers
import Scheduling

/// Asks each host of the database what it is, several times a second and each on a thread of its own. So a node that only
/// reads learns that another server has become the primary, and knows at any time whether it reaches the database.
final class ServerWatch: Sendable {
  /// The pause between two questions: 400 ms.
  private static let interval = Duration.milliseconds(400)

  private enum State { case idle, running, over }

  private let watchers: [Confined<HostWatcher>]
  private let state = NIOLockedValueBox(State.idle)

  /// Creates a watch that has not begun.
  init(_ address: DatabaseAddress) {
    watchers = (0..<address.hostCount).map { host in
      Confined(HostWatcher(host, of: address), to: ThreadPool(name: "host \(host)"))
    }
  }

  /// Begins to ask. Later calls do nothing.
  func start() {
    let isFirst = state.withLockedValue { state in
      guard state == .idle else { return false }
      state = .running
      return true
    }
    guard isFirst else { return }
    for watcher in watchers { Task { await run(watcher) } }
  }

  private func run(_ watcher: Confined<HostWatcher>) async {
    while state.withLockedValue({ $0 }) == .running {
      await watcher.run { $0.ask() }
      try? await Task.sleep(for: Self.interval)
    }
    await watcher.run { $0.disconnect() }
  }

  /// Stops asking and ends the threads.
  func stop() async {
    state.withLockedValue { $0 = .over }
    for watcher in watchers { await watcher.threads.stop() }
  }
}

/// Asks one host.
private struct HostWatcher {
  private let host: Int
  private let address: DatabaseAddress
  private var connection: Connection?

  init(_ host: Int, of address: DatabaseAddress) {
    self.host = host
    self.address = address
  }

  mutating func ask() {
    address.servers.begin(host)
    var finding = KnownServers.Finding.refused
    defer { address.servers.end(host, finding) }
    do {
      let connection = try connection ?? address.connectToWatch(host)
      self.connection = connection
      finding = try ServerChecks.primary(connection).map { .primary($0) } ?? .standby
    } catch { connection = nil }
  }

  mutating func disconnect() { connection = nil }
}
