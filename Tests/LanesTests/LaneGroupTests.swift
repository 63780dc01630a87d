import Lanes
import Testing

@Suite(.timeLimit(.minutes(60))) struct LaneGroupTests {
  @Test func thousandActorsOverSixteenLanesTakeAtMostSixteenThreads() async {
    let lanes = LaneGroup(name: "crowd")
    #expect(lanes.count == 16)
    let laneActors = (0..<1000).map {
      LaneActor(on: lanes.lane(for: UInt64($0) &* 0x9E37_79B9_7F4A_7C15))
    }
    let threads = await withTaskGroup(of: UInt.self) { group in
      for laneActor in laneActors { group.addTask { await laneActor.thread() } }
      return await group.reduce(into: Set<UInt>()) { $0.insert($1) }
    }
    #expect(threads.count <= 16)
    let names = ThreadNames.now().filter { $0.hasPrefix("crowd-") }
    #expect(names.count <= 16)
    #expect(Set(names).isSubset(of: (0..<16).map { "crowd-\($0)" }))
    await lanes.stop()
  }

  @Test func hashAlwaysGivesTheSameLane() {
    let lanes = LaneGroup(count: 3)
    for hash in [0, 1, 2, 3, 1 << 63, UInt64.max] {
      #expect(lanes.lane(for: hash) === lanes.lane(for: hash))
    }
    #expect(lanes.lane(for: 0) !== lanes.lane(for: 1))
  }

  @Test func nextGoesRoundAllLanes() {
    let lanes = LaneGroup(count: 3)
    let names = (0..<6).map { _ in lanes.next().name }
    #expect(names == ["lane-0", "lane-1", "lane-2", "lane-0", "lane-1", "lane-2"])
  }

  @Test(arguments: [0, -5, 1])
  func thereIsAlwaysOneLane(count: Int) {
    let lanes = LaneGroup(count: count)
    #expect(lanes.count == 1)
    #expect(lanes.lane(for: .max).name == "lane-0")
  }
}
