import Documents
import Stores
import TestSupport
import Testing

@testable import PostgresEngine

/// Stores of people who were erased for good.
@Suite struct ErasureTests {
  @Test func storeOfAnErasedPersonIsNeverThereForAnyNode() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let (name, other) = (try user(1), try user(2))
      _ = try await node.store(name)
      try await node.noteErasure(of: name)
      #expect(try await node.erase(name))
      // Notes whatever another node could find.
      try fixture.execute("CREATE TABLE seen(key bytea)")
      try fixture.execute(
        """
        CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN INSERT INTO seen VALUES (NEW.key); RETURN NULL; END'
        """)
      try fixture.execute(
        """
        CREATE TRIGGER see AFTER INSERT OR UPDATE ON names FOR EACH ROW WHEN (NEW.state = 0)
          EXECUTE FUNCTION see()
        """)
      #expect(await code { _ = try await node.open(name, creating: true) } == .absent)
      let staged = StoreName.staged(name)
      try await node.store(staged).put("a", "{}")
      #expect(await code { try await node.replace(name, by: staged) } == .absent)
      #expect(try await node.erase(staged))
      _ = try await node.store(other)
      #expect(try fixture.execute("SELECT count(*) FROM seen WHERE key = '\(name.key)'") == [0])
      #expect(try fixture.execute("SELECT count(*) FROM seen WHERE key = '\(other.key)'") == [1])
      #expect(try fixture.execute("SELECT count(*) FROM documents") == [0])
    }
  }

  @Test func storeThatIsMadeWhileItsOwnerIsErasedIsRefused() async throws {
    let fixture = try DatabaseFixture()
    var generator = SystemRandomNumberGenerator()
    // No other test waits for the same lock.
    let name = StoreName.user(.random(using: &generator))
    try await fixture.withNode { node in
      let other = try fixture.address.connect()
      _ = try other.run([Call(.begin)] + ErasureLog.adding([name.key]))
      async let refusal = code { _ = try await node.open(name, creating: true) }
      let waiting = """
        SELECT count(*) FROM pg_locks waiting JOIN pg_locks held USING (classid, objid)
        WHERE waiting.locktype = 'advisory' AND NOT waiting.granted AND held.granted
          AND held.pid = \(other.backend)
        """
      while try fixture.execute(waiting) == [0] {
        try await Task.sleep(for: .milliseconds(5))
      }
      _ = try other.run([Call(.commit)])
      #expect(await refusal == .absent)
      #expect(try fixture.execute("SELECT count(*) FROM names WHERE state = 0") == [0])
      #expect(try fixture.execute("SELECT count(*) FROM stores WHERE number <> 0") == [0])
    }
  }
}
