import Synchronization

/// A fixed number of lanes that many actors share, so that a thousand open stores cost a few
/// threads and a slow one delays only its neighbours.
package final class LaneGroup: Sendable {
  /// The usual number. More than the cores, as a lane mostly waits for the disk; few enough that
  /// their threads do not crowd out the cooperative pool's.
  package static let defaultCount = 16

  private let lanes: [Lane]
  private let turn = Atomic<UInt64>(0)

  /// Makes `count` lanes (at least 1), named `name-0`, `name-1` and so on.
  package init(count: Int = LaneGroup.defaultCount, name: String = "lane") {
    lanes = (0..<max(count, 1)).map { Lane(name: "\(name)-\($0)") }
  }

  /// How many lanes there are.
  package var count: Int { lanes.count }

  /// The lane that belongs to `hash`: always the same one for the same hash.
  package func lane(for hash: UInt64) -> Lane {
    lanes[Int(hash % UInt64(lanes.count))]
  }

  /// The lanes in turn, for work that belongs to no key.
  package func next() -> Lane {
    lane(for: turn.wrappingAdd(1, ordering: .relaxed).oldValue)
  }

  /// Stops every lane once its waiting jobs have run; returns when all threads have ended.
  package func stop() async {
    for lane in lanes { await lane.stop() }
  }
}
