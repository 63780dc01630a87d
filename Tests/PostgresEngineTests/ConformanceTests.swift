import StoreTesting
import Testing

@testable import PostgresEngine

@Suite struct ConformanceTests {
  @Test(arguments: StorageConformance.claims)
  func conforms(to claim: StorageConformance.Claim) async throws {
    let place = try Place()
    try await StorageConformance { try await place.node() }.check(claim)
    try place.execute("DROP SCHEMA \(place.schema) CASCADE")
  }
}
