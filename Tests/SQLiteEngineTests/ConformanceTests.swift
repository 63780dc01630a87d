import SQLiteEngine
import StoreTesting
import TestSupport
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: StorageConformance.claims)
  func conforms(to claim: StorageConformance.Claim) async throws {
    let directory = try TemporaryDirectory()
    try await StorageConformance { try await FileEngine.open(directory: directory.path) }
      .check(claim)
  }
}
