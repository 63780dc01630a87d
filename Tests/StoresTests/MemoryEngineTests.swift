import StoreTesting
import Testing

/// The engine that other tests stand on does what every engine must.
@Suite struct MemoryEngineTests {
  @Test(arguments: StorageConformance.claims)
  func conforms(to claim: StorageConformance.Claim) async throws {
    try await StorageConformance { MemoryEngine() }.check(claim)
  }
}
