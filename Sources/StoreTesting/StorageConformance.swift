package import Stores

/// What every storage engine must do, one claim at a time. An engine's tests need these lines:
///
/// ```swift
/// @Test(arguments: StorageConformance.claims)
/// func conforms(to claim: StorageConformance.Claim) async throws {
///   try await StorageConformance { MemoryEngine() }.check(claim)
/// }
/// ```
package struct StorageConformance: Sendable {
  /// One sentence about engines, and the code that proves it.
  package struct Claim: Sendable, CustomStringConvertible {
    /// The sentence.
    package let description: String
    let prove: @Sendable (StorageBench) async throws -> Void

    init(_ sentence: String, _ prove: @escaping @Sendable (StorageBench) async throws -> Void) {
      description = sentence
      self.prove = prove
    }
  }

  /// Every claim.
  package static let claims: [Claim] =
    sequences + counts + bytes + atomicity + documents + histories + purges + locals + indexes
    + compaction
    + lifeCycle

  private let makeEngine: @Sendable () async throws -> any StorageEngine

  /// A suite over one kind of engine.
  /// - Parameter makeEngine: makes an engine without stores, on a place of its own.
  package init(makeEngine: @escaping @Sendable () async throws -> any StorageEngine) {
    self.makeEngine = makeEngine
  }

  /// Proves one claim on a new engine, and closes the engine.
  /// - Throws: ``ConformanceFailure`` or what the engine throws.
  package func check(_ claim: Claim) async throws {
    let engine = try await makeEngine()
    do {
      try await claim.prove(StorageBench(engine: engine))
    } catch {
      await engine.close()
      throw error
    }
    await engine.close()
  }
}

/// A claim that does not hold.
package struct ConformanceFailure: Error, CustomStringConvertible {
  /// What was found where.
  package let description: String
}

/// An engine on the bench, with shorthands.
struct StorageBench: Sendable {
  /// The engine.
  let engine: any StorageEngine

  /// The store that most claims use.
  static let name = StoreName.system

  /// Opens a store, making it.
  func open(_ name: StoreName = Self.name) async throws -> any StoreStorage {
    try required(try await engine.open(name, creating: true), "a store that was to be made")
  }

  /// Opens a new store for the time of one claim.
  func withStorage(_ use: (any StoreStorage) async throws -> Void) async throws {
    let storage = try await open()
    do { try await use(storage) } catch {
      await storage.close()
      throw error
    }
    await storage.close()
  }
}

/// Fails the claim unless `condition` holds.
func require(
  _ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  guard !condition else { return }
  throw ConformanceFailure(description: "\(what()) (\(file):\(line))")
}

/// Fails the claim unless both are equal.
func require<Value: Equatable>(
  _ value: Value, is wanted: Value, _ what: String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  try require(value == wanted, "\(what): \(value) instead of \(wanted)", file: file, line: line)
}

/// Fails the claim for nil.
func required<Value>(
  _ value: Value?, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
  guard let value else {
    throw ConformanceFailure(description: "Missing: \(what) (\(file):\(line))")
  }
  return value
}
