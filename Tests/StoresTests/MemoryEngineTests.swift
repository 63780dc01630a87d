import StoreTesting
import Testing

/// The engine in memory, which other tests use, passes the conformance tests of all engines.
@Suite struct MemoryEngineTests {
  @Test(arguments: StorageConformance.claims)
  func conforms(to claim: StorageConformance.Claim) async throws {
    try await StorageConformance { MemoryEngine() }.check(claim)
  }
}
