import Documents
import Glibc
import Hotels
import SQLite

/// The sizes of the contents of a ``SearchCache``.
package struct SearchCacheUsage: Sendable, Equatable {
  package internal(set) var answerBytes: Int64
  /// Bytes of hotels that are cached by id.
  package internal(set) var hotelBytes: Int64
  /// Hotels that are cached by id.
  package internal(set) var hotels: Int64
}

/// The file of a ``SearchCache``: its tables and their SQL.
///
/// `blocks` contains answers by a key of upstream, search and offset; its column `used` gives the order of
/// eviction. Every row has a checksum (FNV-1a, 64 bits), because SQLite does not detect a changed bit inside a
/// text. With `synchronous=NORMAL`, a power failure may lose the writes of the last seconds, but the file stays
/// consistent.
final class SearchCacheFile {
  /// `HBca`, so that a file of another kind is not used as a cache.
  private static let applicationID: Int32 = 0x4842_6361
  private static let version: Int32 = 2

  private let connection: Connection
  /// The sizes of the tables' contents. They are kept here because computing them would read all rows.
  private(set) var usage: SearchCacheUsage

  /// Opens the file, or creates it.
  /// - Throws: ``SQLiteError``, also for a file of another kind or of another version.
  init(path: String) throws {
    let connection = try Connection(path: path, mode: .readWriteCreate, busyTimeout: 1_000)
    try connection.enableWriteAheadLog()
    try connection.execute("PRAGMA synchronous=NORMAL")
    if try connection.userVersion() == 0 {
      try connection.execute(
        """
        BEGIN IMMEDIATE;
        CREATE TABLE blocks(
          key TEXT PRIMARY KEY, stored INTEGER NOT NULL, used INTEGER NOT NULL,
          checksum INTEGER NOT NULL, body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX blocks_by_use ON blocks(used);
        CREATE TABLE hotels(
          upstream TEXT NOT NULL, id TEXT NOT NULL, stored INTEGER NOT NULL,
          checksum INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(upstream, id)
        ) STRICT;
        CREATE INDEX hotels_by_age ON hotels(stored);
        COMMIT;
        """)
      try connection.setApplicationID(Self.applicationID)
      try connection.setUserVersion(Self.version)
    }
    guard try connection.applicationID() == Self.applicationID,
      try connection.userVersion() == Self.version
    else { throw SQLiteError(.notADatabase, message: "no search cache of this version") }
    self.connection = connection
    usage = SearchCacheUsage(
      answerBytes: try Self.number(
        "SELECT coalesce(sum(length(body)), 0) FROM blocks", in: connection),
      hotelBytes: try Self.number(
        "SELECT coalesce(sum(length(body)), 0) FROM hotels", in: connection),
      hotels: try Self.number("SELECT count(*) FROM hotels", in: connection))
  }

  /// Deletes a file with its write-ahead log.
  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }

  /// An answer's row; nil when there is none or its checksum is wrong.
  func block(_ key: String) throws -> (stored: Timestamp, used: Int64, body: [UInt8])? {
    let row = try connection.statement(
      "SELECT stored, used, checksum, body FROM blocks WHERE key = ?1"
    ).first(.text(key)) { row in
      (stored: row.int64(0), used: row.int64(1), checksum: row.int64(2), body: row.bytes(3))
    }
    guard let row, row.checksum == Self.checksum(row.body) else { return nil }
    return (Timestamp(milliseconds: row.stored), row.used, row.body)
  }

  /// Stores the time at which an answer was used.
  func note(useOf key: String, at now: Timestamp) throws {
    try connection.run(
      "UPDATE blocks SET used = ?2 WHERE key = ?1", .text(key), .integer(now.milliseconds))
  }

  /// Stores an answer and its hotels.
  func keep(_ block: HotelBlock, of upstream: String, under key: String, at now: Timestamp) throws {
    try atOnce { sums in
      let body = block.bytes
      let old = try connection.integer(
        "SELECT length(body) FROM blocks WHERE key = ?1", .text(key))
      try connection.run(
        "INSERT OR REPLACE INTO blocks(key, stored, used, checksum, body) VALUES (?1, ?2, ?2, ?3, ?4)",
        .text(key), .integer(now.milliseconds), .integer(Self.checksum(body)), .bytes(body))
      sums.answerBytes += Int64(body.count) - (old ?? 0)
      for hotel in block.hotels { try put(hotel, of: upstream, at: now, &sums) }
    }
  }

  func keep(_ hotel: Hotel, of upstream: String, at now: Timestamp) throws {
    try atOnce { sums in try put(hotel, of: upstream, at: now, &sums) }
  }

  /// A hotel's row; nil when there is none or its checksum is wrong.
  func hotel(_ id: String, of upstream: String) throws -> (stored: Timestamp, body: [UInt8])? {
    let row = try connection.statement(
      "SELECT stored, checksum, body FROM hotels WHERE upstream = ?1 AND id = ?2"
    ).first(.text(upstream), .text(id)) { row in
      (stored: row.int64(0), checksum: row.int64(1), body: row.bytes(2))
    }
    guard let row, row.checksum == Self.checksum(row.body) else { return nil }
    return (Timestamp(milliseconds: row.stored), row.body)
  }

  /// When a limit is exceeded, removes the least recently used answers, or the least recently returned hotels,
  /// until the rest fits with a tenth to spare.
  /// - Parameter limit: the most bytes of answers, and also of hotels.
  func shrink(to limit: Int64, hotels hotelLimit: Int64) throws {
    if usage.answerBytes > limit {
      try atOnce { sums in
        while sums.answerBytes > limit - limit / 10 {
          let oldest = try connection.statement(
            "SELECT rowid, length(body) FROM blocks ORDER BY used LIMIT 1"
          ).first { row in (row: row.int64(0), bytes: row.int64(1)) }
          guard let oldest else { return }
          try connection.run("DELETE FROM blocks WHERE rowid = ?1", .integer(oldest.row))
          sums.answerBytes -= oldest.bytes
        }
      }
    }
    guard usage.hotelBytes > limit || usage.hotels > hotelLimit else { return }
    try atOnce { sums in
      while sums.hotelBytes > limit - limit / 10 || sums.hotels > hotelLimit - hotelLimit / 10 {
        let oldest = try connection.statement(
          "SELECT rowid, length(body) FROM hotels ORDER BY stored LIMIT 1"
        ).first { row in (row: row.int64(0), bytes: row.int64(1)) }
        guard let oldest else { return }
        try connection.run("DELETE FROM hotels WHERE rowid = ?1", .integer(oldest.row))
        sums.hotelBytes -= oldest.bytes
        sums.hotels -= 1
      }
    }
  }

  private func put(
    _ hotel: Hotel, of upstream: String, at now: Timestamp, _ sums: inout SearchCacheUsage
  ) throws {
    let old = try connection.integer(
      "SELECT length(body) FROM hotels WHERE upstream = ?1 AND id = ?2", .text(upstream),
      .text(hotel.id.text))
    try connection.run(
      "INSERT OR REPLACE INTO hotels(upstream, id, stored, checksum, body) VALUES (?1, ?2, ?3, ?4, ?5)",
      .text(upstream), .text(hotel.id.text), .integer(now.milliseconds),
      .integer(Self.checksum(hotel.body.bytes)), .bytes(hotel.body.bytes))
    sums.hotelBytes += Int64(hotel.body.bytes.count) - (old ?? 0)
    sums.hotels += old == nil ? 1 : 0
  }

  /// Makes a change in one transaction. The sums are updated after the commit.
  private func atOnce(_ change: (inout SearchCacheUsage) throws -> Void) throws {
    try connection.begin()
    do {
      var sums = usage
      try change(&sums)
      try connection.commit()
      usage = sums
    } catch {
      try connection.rollback()
      throw error
    }
  }

  private static func number(_ sql: StaticString, in connection: Connection) throws -> Int64 {
    try connection.integer(sql) ?? 0
  }

  /// FNV-1a (Fowler, Noll, Vo), 64 bits.
  private static func checksum(_ bytes: [UInt8]) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return Int64(bitPattern: hash)
  }
}

extension HotelQuery {
  /// The numbers of the blocks that contain the query's page: one, or two adjacent ones.
  var blocks: ClosedRange<Int> {
    (offset / HotelBlock.size)...((offset + limit - 1) / HotelBlock.size)
  }

  /// The query for a whole block.
  /// - Parameter other: how texts are matched instead; nil to keep the query's setting.
  func block(_ number: Int, matching other: HotelQuery.Matching? = nil) -> HotelQuery {
    HotelQuery(
      description: description, location: location, matching: other ?? matching,
      limit: HotelBlock.size,
      offset: number * HotelBlock.size)
  }

  /// The cache key of an answer to the query. It contains nothing about a person.
  func key(upstream: String) -> String {
    let key: JSONValue = [
      .string(upstream), matching == .phrase ? "phrase" : "words", .string(description ?? ""),
      .string(location ?? ""), .number(JSONNumber(offset)),
    ]
    return String(decoding: key.bytes, as: UTF8.self)
  }
}
