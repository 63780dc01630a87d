/// What every layer is asked to do: a store of small documents, as the service keeps them.
struct Workload: Sendable {
  /// How many documents the store holds: few enough to stay in the page cache.
  static let documentCount = 1000
  /// The bytes of one document's body.
  static let bodySize = 1100
  /// How many writes share a commit in the third measurement.
  static let groupSize = 32

  /// The settings of a store that must not lose an acknowledged write, in force for all.
  static let settings: StaticString = """
    PRAGMA journal_mode=WAL;
    PRAGMA synchronous=FULL;
    """
  /// One table with a unique text key.
  static let schema: StaticString = """
    CREATE TABLE document (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, revision TEXT NOT NULL,
      body BLOB NOT NULL)
    """
  /// Reads one document by its key.
  static let read: StaticString = "SELECT revision, body FROM document WHERE id = ?"
  /// Writes one document, whether it exists or not.
  static let upsert: StaticString = """
    INSERT INTO document (id, revision, body) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, body = excluded.body
    """

  /// The keys, in an order that is random but the same in every run.
  let keys: [String]
  /// Revisions to write in turn. SQLite leaves a page alone, and so has nothing to commit, when a
  /// row is overwritten with what it holds: every write must bring another revision than the last
  /// one of its document, which a prime number of them ensures.
  let revisions: [String]
  /// The body of every document.
  let body: [UInt8]

  init() {
    var generator = SplitMix(state: 7)
    keys = (0..<Self.documentCount).map { "hotel::document::\($0)" }.shuffled(using: &generator)
    revisions = (0..<1009).map { number in
      let digest = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
      return "\(1000 + number)-" + String((digest + String(repeating: "0", count: 32)).prefix(32))
    }
    body = (0..<Self.bodySize).map { _ in UInt8.random(in: 32...126, using: &generator) }
  }

  /// What one read must bring: the bytes of a revision and the body together.
  var bytesPerRead: Int { 37 + body.count }

  /// The revision that the write of this number brings.
  func revision(_ number: Int) -> String { revisions[number % revisions.count] }
}

/// A generator of numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
