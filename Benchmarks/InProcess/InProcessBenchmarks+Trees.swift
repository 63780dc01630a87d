import Benchmark
import Documents

extension InProcessBenchmarks {
  /// Insertion into trees, pruning and the choice of the winner. Each change works on a copy, as in a write.
  static func registerTrees() {
    let thousand = Benchmark.Configuration(scalingFactor: .kilo)
    for count in [1, 20, 1_000] {
      Benchmark("tree: insert below \(count) revisions", configuration: thousand) { benchmark in
        let (tree, last) = try line(of: count)
        let next = revision(count + 1)
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations {
          var grown = tree
          blackHole(try grown.insert(next, below: last, isDeleted: false))
        }
      }
    }
    Benchmark("tree: prune 1,001 revisions to 1,000") { benchmark in
      let (tree, _) = try line(of: HistoryLimits.standard.revisions + 1)
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations {
        var pruned = tree
        blackHole(pruned.prune(to: HistoryLimits.standard.revisions))
      }
    }
    Benchmark("winner: of 1,000 revisions in a line", configuration: thousand) { benchmark in
      let (tree, _) = try line(of: HistoryLimits.standard.revisions)
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations { blackHole(tree.winner) }
    }
    Benchmark("winner: of 64 conflicts", configuration: thousand) { benchmark in
      let tree = try conflicts(of: HistoryLimits.standard.liveLeaves)
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations { blackHole(tree.winner) }
    }
  }

  private static func revision(_ generation: Int, branch: Int = 0) -> RevisionID {
    RevisionID(
      generation: generation, digest: Hex.digest(of: "\(generation) \(branch)", digits: 32))
  }

  /// A tree with this many revisions, each below the one before, and its last revision.
  private static func line(of count: Int) throws -> (RevisionTree, RevisionID?) {
    var tree = RevisionTree()
    var last: RevisionID?
    for generation in 1...count {
      let next = revision(generation)
      try tree.insert(next, below: last, isDeleted: false)
      last = next
    }
    return (tree, last)
  }

  /// A tree with this many conflicting revisions below one root.
  private static func conflicts(of count: Int) throws -> RevisionTree {
    var (tree, root) = try line(of: 1)
    for branch in 1...count {
      try tree.insert(revision(2, branch: branch), below: root, isDeleted: false)
    }
    return tree
  }
}
