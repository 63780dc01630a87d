import ReadTesting
import SQLiteEngine
import StoreTesting
import TestSupport
import Testing

/// Reads whose steps an engine runs again, as after a lost connection. The tests of the engine over PostgreSQL have these
/// too.
@Suite struct RepeatedReadTests {
  @Test(arguments: ReadConformance.readings)
  func repeatedStepsLeaveNoTraceInMemory(of reading: ReadConformance.Reading) async throws {
    try await ReadConformance { MemoryEngine() }.check(reading)
  }

  @Test(arguments: ReadConformance.readings)
  func repeatedStepsLeaveNoTraceInFiles(of reading: ReadConformance.Reading) async throws {
    let directory = try TemporaryDirectory()
    try await ReadConformance { try await FileEngine.open(directory: directory.path) }
      .check(reading)
  }
}
