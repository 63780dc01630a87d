import Stores

/// Files that all nodes of a database share, such as the catalogue of hotels. The content is stored in pieces, and a
/// row in `files` names the present content.
///
/// A writer first writes the pieces of a new content, each in its own transaction. Then it updates the row in `files`.
/// A node that reads meanwhile finds the old content or the new one. The next writer removes the pieces that an
/// interrupted writer has left.
extension PostgresDatabase {
  /// The size of a piece: 256 KiB.
  package static let sharedPieceBytes = 256 << 10

  /// The present content of a file.
  package struct SharedFile: Sendable, Equatable {
    /// A random number, different for each content.
    package let version: Int64
    /// The number of pieces.
    package let pieces: Int64
  }

  /// The present content of a file; nil for a file that was never written.
  package func sharedFile(_ name: String) async throws -> SharedFile? {
    try await reading { connection in
      try connection.run([Call(Self.findFile, .text(name))])[0].first.map { row in
        SharedFile(version: row.integer(0), pieces: row.integer(1))
      }
    }
  }

  /// Reads a piece of a content.
  /// - Parameter index: the number of the piece, from 0.
  /// - Throws: `unavailable` when another content has replaced this one; `integrity` for a damaged piece.
  package func piece(_ index: Int64, of file: SharedFile, _ name: String) async throws -> [UInt8] {
    try await reading { connection in
      let row = try connection.run([
        Call(Self.findPiece, .text(name), .integer(file.version), .integer(index))
      ])[0].first
      guard let row else { throw ServiceError.unreachable("another file has replaced this one") }
      let bytes = row.bytes(0)
      guard Self.checksum(of: bytes, index, file.version).matches(row.integer(1)) else {
        throw ServiceError.integrity("a piece of a shared file fails its checksum")
      }
      return bytes
    }
  }

  /// Replaces the content of a file.
  /// - Parameter next: returns the next piece of at most ``sharedPieceBytes``; nil at the end.
  /// - Returns: the new content.
  package func replaceSharedFile(
    _ name: String, _ next: () async throws -> [UInt8]?
  ) async throws -> SharedFile {
    let version = Int64.random(in: 1...Int64.max)
    var count: Int64 = 0
    while let bytes = try await next() {
      let index = count
      try await repeating { connection in
        let checksum = Self.checksum(of: bytes, index, version)
        _ = try connection.run([
          Call(
            Self.addPiece, .text(name), .integer(version), .integer(index), .bytes(bytes),
            .integer(checksum.value))
        ])
      }
      count += 1
    }
    let file = SharedFile(version: version, pieces: count)
    try await repeating { connection in
      _ = try connection.run([
        Call(Self.setFile, .text(name), .integer(version), .integer(file.pieces)),
        Call(Self.removeAbandoned, .text(name)),
      ])
    }
    return file
  }

  private static func checksum(of bytes: [UInt8], _ index: Int64, _ version: Int64) -> Checksum {
    var checksum = Checksum(.entry)
    checksum.append(bytes: bytes)
    checksum.append(index)
    checksum.append(version)
    return checksum
  }

  private static let findFile = Statement("SELECT version, pieces FROM files WHERE name = $1")
  private static let findPiece = Statement(
    "SELECT bytes, checksum FROM pieces WHERE name = $1 AND version = $2 AND piece = $3")
  private static let addPiece = Statement(
    """
    INSERT INTO pieces VALUES ($1, $2, $3, $4, $5, \(Statement.sqlTime)) ON CONFLICT DO NOTHING
    """)
  private static let setFile = Statement(
    """
    WITH former AS (SELECT version FROM files WHERE name = $1 FOR UPDATE),
      removed AS (
        DELETE FROM pieces WHERE name = $1 AND version <> $2
          AND version IN (SELECT version FROM former))
    INSERT INTO files VALUES ($1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version, pieces = EXCLUDED.pieces
    """)
  /// Removes what writers left a day ago or earlier without finishing.
  private static let removeAbandoned = Statement(
    """
    DELETE FROM pieces p WHERE p.name = $1 AND p.written < \(Statement.sqlTime) - 86400000
      AND NOT EXISTS (SELECT FROM files f WHERE f.name = p.name AND f.version = p.version)
    """)
}
