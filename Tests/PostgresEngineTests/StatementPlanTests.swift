import Documents
import Stores
import Testing

@testable import PostgresEngine

/// The server finds documents by their ids, and does not read all rows of a store.
@Suite struct StatementPlanTests {
  /// How the server runs the statement that reads what a write changes.
  private func plan(on connection: Connection) throws -> String {
    _ = try connection.run([Call(WriteTransaction.documentsByID, .integer(1), .list([[97]]))])
    let ofStatement = Statement(
      once: "SELECT name FROM pg_prepared_statements WHERE convert_to(statement, 'UTF8') = $1")
    let prepared = try connection.run([
      Call(ofStatement, .text(WriteTransaction.documentsByID.sql))
    ])
    let name = try #require(prepared[0].first?.text(0))
    return try connection.execute("EXPLAIN EXECUTE \(name)(1, '{}')").all
      .compactMap { $0.text(0) }.joined(separator: "\n")
  }

  private func fill(_ fixture: DatabaseFixture, stores: Int, documents: Int) throws {
    try fixture.execute(
      """
      INSERT INTO documents SELECT s, convert_to(n::text, 'UTF8'), n, n, 1, '', false, NULL, 0, 0, 0, NULL, 0, '{}'
      FROM generate_series(1, \(stores)) s, generate_series(1, \(documents)) n
      """)
  }

  @Test func idsAreFoundByThePrimaryKeyAmongManySmallStores() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { _ in
      try fill(fixture, stores: 1_000, documents: 3)
      try fixture.execute("ANALYZE documents")
      let plan = try plan(on: try fixture.address.connect())
      #expect(plan.contains("documents_pkey") && !plan.contains("Seq Scan"), "\(plan)")
    }
  }

  @Test func plansOfAnEmptyTableAreForgotten() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { _ in
      let connection = try fixture.address.connect()
      _ = try plan(on: connection)
      try fill(fixture, stores: 1, documents: 2_000)
      connection.forgetOldPlans()
      let plan = try plan(on: connection)
      #expect(plan.contains("documents_pkey"), "\(plan)")
    }
  }
}
