package import Documents

/// When a revision came and from whom: the last column of its row.
///
/// 8 bytes of checksum, 8 bytes of milliseconds since 1970, 1 byte for the kind of the author, and 16 bytes
/// of an account's id for a guest or a user. The column has its own checksum, so that a read of the document
/// need not read it.
package struct StoredArrival: Equatable, Sendable {
  /// The bytes of the column; empty for a null.
  package let bytes: [UInt8]

  /// An unknown arrival: the column was damaged.
  package static let unknown = StoredArrival(bytes: [])

  package static let checksumBytes = 8

  package init(bytes: [UInt8]) { self.bytes = bytes }

  package init(_ arrival: Arrival, of revision: RevisionID, _ id: DocumentID) {
    var content = Self.bytes(arrival.time.milliseconds)
    switch arrival.author {
    case .server: content.append(Kind.server.rawValue)
    case .administrator: content.append(Kind.administrator.rawValue)
    case .guest(let account):
      content.append(Kind.guest.rawValue)
      content += Hex.bytes(account.text.utf8) ?? []
    case .user(let account):
      content.append(Kind.user.rawValue)
      content += Hex.bytes(account.text.utf8) ?? []
    }
    bytes = Self.bytes(Self.checksum(of: content, revision, id).value) + content
  }

  /// Decodes the arrival; nil when it is unknown.
  /// - Throws: `integrity` when the bytes differ from what was written.
  package func arrival(of revision: RevisionID, in document: StoredDocument) throws -> Arrival? {
    guard !bytes.isEmpty else { return nil }
    let content = Array(bytes.dropFirst(Self.checksumBytes))
    guard content.count > 8, Self.checksum(of: content, revision, document.id).matches(checksum),
      let author = Self.author(content[8], Array(content[9...]))
    else {
      throw ServiceError.integrity(
        "the arrival of a revision of change \(document.sequence) fails its checksum")
    }
    return Arrival(time: Timestamp(milliseconds: Self.number(content.prefix(8))), author: author)
  }

  /// The checksum in the first eight bytes.
  package var checksum: Int64 { Self.number(bytes.prefix(Self.checksumBytes)) }

  /// The stored form of a checksum or a time.
  package static func bytes(_ number: Int64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  private enum Kind: UInt8 {
    case server = 0
    case administrator = 1
    case guest = 2
    case user = 3
  }

  private static func checksum(
    of content: [UInt8], _ revision: RevisionID, _ id: DocumentID
  ) -> Checksum {
    var checksum = Checksum(.arrival)
    checksum.append(id.text)
    checksum.append(revision)
    checksum.content = content
    return checksum
  }

  private static func author(_ kind: UInt8, _ account: [UInt8]) -> Author? {
    let id = AccountID(Hex.string(account))
    return switch Kind(rawValue: kind) {
    case .server where account.isEmpty: .server
    case .administrator where account.isEmpty: .administrator
    case .guest: id.map { .guest($0) }
    case .user: id.map { .user($0) }
    case .server, .administrator, nil: nil
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }
}
