/// The workload of every layer: a store of small documents, as in the service.
struct Workload: Sendable {
  /// The number of documents in the store: few enough for the page cache.
  static let documentCount = 1000
  /// The size of one document's body, in bytes.
  static let bodySize = 1100
  /// The number of writes in one commit, in the third measurement.
  static let groupSize = 32

  /// The settings of all stores: an acknowledged write must not be lost.
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

  /// The keys, in a random order that is the same in every run.
  let keys: [String]
  /// The revisions, written in turn. If a write does not change a row, SQLite does not change the page
  /// and has nothing to commit. So every write needs another revision than the last one of its document;
  /// the number of revisions is a prime number, which ensures this.
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

  /// The number of bytes that one read must return: a revision and a body.
  var bytesPerRead: Int { 37 + body.count }

  /// The revision of the write with this number.
  func revision(_ number: Int) -> String { revisions[number % revisions.count] }
}

/// A generator of random numbers (SplitMix64) that are the same in every run.
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
