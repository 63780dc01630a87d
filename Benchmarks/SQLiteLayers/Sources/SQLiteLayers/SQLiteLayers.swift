import Foundation
import SQLite
import Scheduling

/// Measures the service's binding to SQLite and GRDB in turn, with the same workload.
///
/// One optional argument: the working directory, which should be on a real disk.
@main
enum SQLiteLayers {
  /// The number of rounds. It is odd, so that the median is one of them.
  private static let rounds = 11

  static func main() async throws {
    let parent =
      CommandLine.arguments.dropFirst().first.map { URL(filePath: $0) }
      ?? FileManager.default.temporaryDirectory
    let directory = parent.resolvingSymlinksInPath().appending(path: "layers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    func path(_ name: String) -> String { directory.appending(path: name).path }

    let workload = Workload()
    let contenders: [any Contender] = [
      try ThinLayer(path: path("thin"), workload: workload),
      try GRDBLayer(path: path("grdb"), workload: workload),
      try UnsafeGRDBLayer(path: path("unsafe"), workload: workload),
      try BareGRDBLayer(path: path("bare"), workload: workload),
    ]
    try measureReads(of: contenders, workload)
    try measureCommits(of: contenders, workload)
    try measureGroups(of: contenders, workload)

    _ = try ThinLayer(path: path("cold"), workload: workload)
    try measureColdReads(
      of: [
        .thin(path: path("cold"), workload: workload),
        .grdb(path: path("cold"), workload: workload),
      ], workload)

    let threads = ThreadPool(name: "reads")
    let awaited: [any AwaitedReads] = [
      try ConfinedReads(path: path("thread"), workload: workload, threads: threads),
      try GRDBReads(path: path("awaited"), workload: workload, isUnsafe: false),
      try GRDBReads(path: path("awaited-unsafe"), workload: workload, isUnsafe: true),
    ]
    try await measureAwaitedReads(of: awaited, workload)
    await threads.stop()
  }

  private static func measureReads(of contenders: [any Contender], _ workload: Workload) throws {
    try measure("Hot read of one document by its key", contenders, count: 20_000) {
      operations, _, count in
      var bytes = 0
      for index in 0..<count {
        bytes += try operations.read(workload.keys[index % workload.keys.count])
      }
      return bytes == count * workload.bytesPerRead
    }
  }

  private static func measureCommits(of contenders: [any Contender], _ workload: Workload) throws {
    try measure("Durable commit of one upsert", contenders, count: 200) {
      operations, first, count in
      for index in 0..<count { try operations.upsert(workload.keys[index], first + index) }
      return true
    }
  }

  private static func measureGroups(of contenders: [any Contender], _ workload: Workload) throws {
    let size = Workload.groupSize
    let title = "Durable commit of \(size) upserts, a savepoint each"
    try measure(title, contenders, count: 60) { operations, first, count in
      for index in 0..<count {
        let start = index * size % (workload.keys.count - size)
        try operations.upsertTogether(workload.keys[start..<start + size], (first + index) * size)
      }
      return true
    }
  }

  /// Runs one round of each contender in turn. The first round does not count. Each further round starts
  /// with another contender.
  private static func measure(
    _ title: String, _ contenders: [any Contender], count: Int,
    _ body: (any Operations, Int, Int) throws -> Bool
  ) throws {
    var measurement = Measurement(title: title)
    for round in 0...rounds {
      for index in contenders.indices {
        let order = round == 0 ? index : (index + round) % contenders.count
        let contender = contenders[order]
        try contender.session { operations in
          var isRight = false
          let time = try ContinuousClock().measure {
            isRight = try body(operations, 1 + round * count, count)
          }
          guard isRight else { throw WrongResult(contender: contender.name) }
          if round == 0 {
            measurement.expect(contender.name)
          } else {
            measurement.note(contender.name, time, count: count)
          }
        }
      }
    }
    measurement.report()
  }

  private static func measureColdReads(of contenders: [ColdRead], _ workload: Workload) throws {
    var measurement = Measurement(title: "Open, read one document, close")
    let count = 300
    for round in 0...rounds {
      for contender in round.isMultiple(of: 2) ? contenders : contenders.reversed() {
        var bytes = 0
        let time = try ContinuousClock().measure {
          for index in 0..<count { bytes += try contender.run(workload.keys[index]) }
        }
        guard bytes == count * workload.bytesPerRead else {
          throw WrongResult(contender: contender.name)
        }
        if round == 0 {
          measurement.expect(contender.name)
        } else {
          measurement.note(contender.name, time, count: count)
        }
      }
    }
    measurement.report()
  }

  private static func measureAwaitedReads(
    of contenders: [any AwaitedReads], _ workload: Workload
  ) async throws {
    var measurement = Measurement(title: "Hot read, awaited from a task")
    let count = 5000
    for round in 0...rounds {
      for contender in round.isMultiple(of: 2) ? contenders : contenders.reversed() {
        var bytes = 0
        let time = try await ContinuousClock().measure {
          for index in 0..<count {
            bytes += try await contender.read(workload.keys[index % workload.keys.count])
          }
        }
        guard bytes == count * workload.bytesPerRead else {
          throw WrongResult(contender: contender.name)
        }
        if round == 0 {
          measurement.expect(contender.name)
        } else {
          measurement.note(contender.name, time, count: count)
        }
      }
    }
    measurement.report()
  }
}
