import ReadTesting
import StoreTesting
import Testing

@testable import PostgresEngine

@Suite struct ConformanceTests {
  @Test(arguments: StorageConformance.claims + StorageConformance.longHistories)
  func conforms(to claim: StorageConformance.Claim) async throws {
    let fixture = try DatabaseFixture()
    try await StorageConformance { try await fixture.node() }.check(claim)
    try fixture.execute("DROP SCHEMA \(fixture.schema) CASCADE")
  }

  @Test(arguments: ReadConformance.readings)
  func repeatedStepsLeaveNoTrace(of reading: ReadConformance.Reading) async throws {
    let fixture = try DatabaseFixture()
    try await ReadConformance { try await fixture.node() }.check(reading)
    try fixture.execute("DROP SCHEMA \(fixture.schema) CASCADE")
  }
}
