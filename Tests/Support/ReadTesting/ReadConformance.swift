import Documents
import StoreTesting
package import Stores

/// Every kind of read that a client can ask for, as claims about engines: its answer has the same bytes however often the
/// engine runs each step of it, and wherever a run is interrupted. The tests of an engine need these lines:
///
/// ```swift
/// @Test(arguments: ReadConformance.readings)
/// func repeatedStepsLeaveNoTrace(of reading: ReadConformance.Reading) async throws {
///   try await ReadConformance { MemoryEngine() }.check(reading)
/// }
/// ```
package struct ReadConformance: Sendable {
  /// One kind of read.
  package struct Reading: Sendable, CustomStringConvertible {
    /// The name of the read.
    package let description: String
    /// Whether the first such read of a store leaves something in it, such as an index.
    let writes: Bool
    /// Reads in several ways, and returns the bytes of all answers.
    let read: @Sendable (ReadBench) async throws -> [[UInt8]]

    init(
      _ name: String, writes: Bool = false,
      _ read: @escaping @Sendable (ReadBench) async throws -> [[UInt8]]
    ) {
      description = name
      self.writes = writes
      self.read = read
    }
  }

  /// All kinds of reads.
  package static let readings: [Reading] = couchReadings + queries + hotelReadings

  /// With how many seeds each read is repeated.
  private static let seeds: UInt64 = 4

  private let makeEngine: @Sendable () async throws -> any StorageEngine

  /// Creates a suite for one kind of engine.
  /// - Parameter makeEngine: creates an engine without stores, in a place that no other engine uses.
  package init(makeEngine: @escaping @Sendable () async throws -> any StorageEngine) {
    self.makeEngine = makeEngine
  }

  /// Compares one read without repetitions and, in the shortest slices, with them.
  /// - Throws: ``ConformanceFailure``, or what the engine throws.
  package func check(_ reading: Reading) async throws {
    let engine = try await makeEngine()
    do { try await check(reading, on: engine) } catch {
      await engine.close()
      throw error
    }
    await engine.close()
  }

  private func check(_ reading: Reading, on engine: any StorageEngine) async throws {
    let names = try (0...Self.seeds).map { try ReadBench.name($0) }
    for name in reading.writes ? names : [names[0]] {
      try await ReadBench.with(engine, name) { try await $0.fill() }
    }
    let whole = try await ReadBench.with(engine, names[0], reading.read)
    for seed in 1...Self.seeds {
      let repetition = Repetition(seed: seed)
      let name = names[reading.writes ? Int(seed) : 0]
      let found = try await ReadBench.with(repetition.engine(over: engine), name, reading.read)
      guard found.count == whole.count, repetition.discarded > 0 else {
        throw ConformanceFailure(description: "\(reading): \(repetition.discarded) runs repeated")
      }
      for (number, (answer, wanted)) in zip(found, whole).enumerated() where answer != wanted {
        throw ConformanceFailure(
          description: """
            \(reading), answer \(number), seed \(seed): \(String(decoding: answer, as: UTF8.self)) \
            instead of \(String(decoding: wanted, as: UTF8.self))
            """)
      }
    }
  }
}
