import Synchronization

/// A fixed number of lanes that many actors share. A thousand open stores then need only a few threads, and a slow
/// store delays only the stores on its lane.
package final class LaneGroup: Sendable {
  /// The usual number of lanes. It is higher than the number of cores, because a lane mostly waits for the disk, and
  /// low enough that the lanes' threads leave time to those of the cooperative pool.
  package static let defaultCount = 16

  private let lanes: [Lane]
  private let turn = Atomic<UInt64>(0)

  /// Makes `count` lanes (at least 1), named `name-0`, `name-1` and so on.
  package init(count: Int = LaneGroup.defaultCount, name: String = "lane") {
    lanes = (0..<max(count, 1)).map { Lane(name: "\(name)-\($0)") }
  }

  /// How many lanes there are.
  package var count: Int { lanes.count }

  /// The lane for `hash`: always the same lane for the same hash.
  package func lane(for hash: UInt64) -> Lane {
    lanes[Int(hash % UInt64(lanes.count))]
  }

  /// The next lane in rotation, for work that belongs to no key.
  package func next() -> Lane {
    lane(for: turn.wrappingAdd(1, ordering: .relaxed).oldValue)
  }

  /// Stops every lane after its waiting jobs have run; returns when all threads have ended.
  package func stop() async {
    for lane in lanes { await lane.stop() }
  }
}
