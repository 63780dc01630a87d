import NIOConcurrencyHelpers
import Stores
import Synchronization

/// What a node knows of the servers of its database. All copies of an address share it, so every connection of the node
/// knows what any other one has seen.
final class KnownServers: Sendable {
  /// What was last found at a host.
  enum Finding: Sendable, Equatable {
    /// A server that accepts writes, on this timeline.
    case primary(Int64)
    /// A server that accepts no writes.
    case standby
    /// A refusal: no server answers there, but the machine does.
    case refused
    /// Nothing: the host has not answered for ``longestAnswer``.
    case silent
  }

  private struct Host {
    /// When the question that is not answered yet was asked.
    var asked: ContinuousClock.Instant?
    var finding: Finding?
  }

  /// A host that has not answered for so long counts as silent: 1.5 s.
  static let longestAnswer = Duration.milliseconds(1_500)

  /// The timeline of the newest primary.
  let timeline = NewestTimeline()
  private let hosts: NIOLockedValueBox<[Host]>
  private let found = NIOLockedValueBox<ServiceError?>(nil)

  /// Why this node can't use the database any more, since a connection found tables of a newer version.
  var refusal: ServiceError? { found.withLockedValue { $0 } }

  /// Notes that a connection found tables of a newer version.
  func note(_ refusal: ServiceError) { found.withLockedValue { $0 = refusal } }

  /// Creates a state without findings.
  /// - Parameter count: how many hosts the address has.
  init(count: Int) { hosts = NIOLockedValueBox(Array(repeating: Host(), count: count)) }

  /// Notes that a host is being asked.
  func begin(_ host: Int, at now: ContinuousClock.Instant = .now) {
    hosts.withLockedValue { hosts in
      guard hosts.indices.contains(host) else { return }
      hosts[host].asked = now
    }
  }

  /// Notes what was found at a host. A refusal that took long is silence.
  func end(_ host: Int, _ finding: Finding, at now: ContinuousClock.Instant = .now) {
    if case .primary(let timeline) = finding { _ = self.timeline.isNewest(timeline) }
    hosts.withLockedValue { hosts in
      guard hosts.indices.contains(host) else { return }
      let isLate = hosts[host].asked.map { now - $0 >= Self.longestAnswer } ?? false
      hosts[host] = Host(asked: nil, finding: finding == .refused && isLate ? .silent : finding)
    }
  }

  /// Whether the network between this node and the database is cut: some host does not answer, and each that does is a
  /// former primary, so that none of them can become the primary. False if no check was made lately.
  func isCutOff(at now: ContinuousClock.Instant = .now) -> Bool {
    let newest = timeline.value
    return hosts.withLockedValue { hosts in
      hosts.contains { Self.isSilent($0, at: now) }
        && hosts.allSatisfy { host in
          if case .primary(let timeline) = host.finding, timeline < newest { return true }
          return Self.isSilent(host, at: now)
        }
    }
  }

  /// Whether a server at this host answers the questions of this node.
  func answers(_ host: Int, at now: ContinuousClock.Instant = .now) -> Bool {
    hosts.withLockedValue { hosts in
      guard hosts.indices.contains(host), let finding = hosts[host].finding else { return false }
      return finding != .refused && !Self.isSilent(hosts[host], at: now)
    }
  }

  /// Whether a host answers that is the newest primary, or the answers to the first questions are due.
  func reachesPrimary(at now: ContinuousClock.Instant = .now) -> Bool {
    let newest = timeline.value
    return hosts.withLockedValue { hosts in
      hosts.allSatisfy { $0.finding == nil && !Self.isSilent($0, at: now) }
        || hosts.contains { host in
          host.finding == .primary(newest) && !Self.isSilent(host, at: now)
        }
    }
  }

  /// Some hosts, those first that were last found to be the newest primary.
  func preferringPrimary(_ order: [Int]) -> [Int] {
    let newest = timeline.value
    let known = hosts.withLockedValue { hosts in hosts.map { $0.finding == .primary(newest) } }
    let isKnown = { (host: Int) in known.indices.contains(host) && known[host] }
    return order.filter(isKnown) + order.filter { !isKnown($0) }
  }

  private static func isSilent(_ host: Host, at now: ContinuousClock.Instant) -> Bool {
    host.finding == .silent || host.asked.map { now - $0 >= longestAnswer } ?? false
  }
}

/// The highest timeline of the servers that a node has seen.
///
/// PostgreSQL begins a higher timeline when a standby becomes the primary. A primary that was replaced, because it hung or
/// because its manager died, may live on and show an old state; its timeline is lower. A new cluster begins with 1, so
/// nodes must be restarted for a new cluster.
/// Source: <https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES>.
final class NewestTimeline: Sendable {
  private let newest = Atomic<Int64>(0)

  /// The timeline; 0 before a server was seen.
  var value: Int64 { newest.load(ordering: .relaxed) }

  /// Records a server's timeline, and returns whether no higher one is known.
  func isNewest(_ timeline: Int64) -> Bool {
    newest.max(timeline, ordering: .relaxed).newValue == timeline
  }
}
