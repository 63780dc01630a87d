import AsyncHTTPClient
import Documents
import NIOCore
import NIOHTTP1
import Scheduling

/// A peer's whole answer.
struct PeerAnswer: Sendable {
  let status: Int
  let body: [UInt8]

  /// The longest answer, in bytes: 9 MiB, so that CouchDB's longest document, 8,000,000 bytes, fits with its history.
  static let maximumBytes = 9 << 20
  /// The longest one that says only whether there is something, in bytes.
  static let shortBytes = 64 << 10
  /// The limits of its JSON: a document in an array in an object, several times.
  static let limits = JSONLimits.checked(
    maximumBytes: maximumBytes, maximumDepth: JSONLimits.document.maximumDepth + 8)

  /// The answer's JSON, parsed in slices.
  /// - Throws: ``JSONError``.
  func json(within limits: JSONLimits = PeerAnswer.limits) async throws -> JSONNode {
    var reader = JSONReader(body, limits: limits)
    while true {
      if let parsed = try reader.next() { return parsed.root }
      try await Slice.giveWay()
    }
  }

  /// The longest body that is read for the error that it names, in bytes.
  private static let longestError = 64 << 10

  /// The error that it names, for texts: `forbidden: not yours`.
  func described() async -> String {
    guard body.count <= Self.longestError else { return "status \(status)" }
    let node = try? await json()
    let words = [node?["error"]?.string, node?["reason"]?.string].compactMap { $0 }
    return "status \(status)" + (words.isEmpty ? "" : ", " + words.joined(separator: ": "))
  }
}

/// An answer that is longer than it may be, or that takes longer. Less has to be asked for at a time.
struct TooLongAnswer: Error {}

/// Watches that a body comes at a fair pace, so that a peer that sends a byte a minute does not hold a replication for
/// years, and in pieces that are worth their handling: each costs the event loop and a task as much as a long one.
struct PeerPace: Sendable {
  /// How slowly a body may come.
  struct Limits: Sendable {
    /// The least bytes per second after the first minute.
    let leastPerSecond: Int
    /// How long a whole answer may take; nil for any time.
    var answer: Duration?

    static let administrators = Limits(leastPerSecond: 100)
    /// Those of the servers that people name, because few of their remotes copy at a time.
    static let people = Limits(leastPerSecond: 4 << 10, answer: .seconds(60))

    /// The limits of a body that passes on from one peer to another: the stricter pace of both, and any time.
    func stream(to other: Limits) -> Limits {
      Limits(leastPerSecond: max(leastPerSecond, other.leastPerSecond))
    }
  }

  /// How many pieces a body may have, and how many further ones for so many bytes. Servers send a row of an answer, or the
  /// comma before it, as a piece.
  private static let (fewPieces, bytesOfPiece) = (1_000, 16)

  private let limits: Limits
  private let began: ContinuousClock.Instant
  private var (count, pieces) = (0, 0)

  init(_ limits: Limits, since began: ContinuousClock.Instant = .now) {
    (self.limits, self.began) = (limits, began)
  }

  /// Notes a further piece.
  /// - Throws: ``ReplicationFailure`` for a body that comes too slowly, or in too short pieces.
  mutating func note(
    _ bytes: Int, from peer: String, at now: ContinuousClock.Instant = .now
  ) throws(ReplicationFailure) {
    count += bytes
    pieces += 1
    let seconds = Int((now - began).components.seconds)
    guard seconds < 60 || count / seconds >= limits.leastPerSecond else {
      throw .unreachable(peer, "its answer comes too slowly")
    }
    guard pieces <= Self.fewPieces + count / Self.bytesOfPiece else {
      throw .unreachable(peer, "its answer comes in too short pieces")
    }
  }

  /// Whether a whole answer takes too long.
  func isLate(at now: ContinuousClock.Instant = .now) -> Bool {
    limits.answer.map { now - began > $0 } ?? false
  }
}

extension HTTPClientResponse {
  /// Reads the whole body.
  /// - Throws: ``TooLongAnswer``; ``ReplicationFailure`` for one that comes too slowly; the client's errors.
  func collected(
    upTo limit: Int, from peer: String, within limits: PeerPace.Limits
  ) async throws -> [UInt8] {
    if let length = headers.first(name: "content-length").flatMap({ Int($0) }), length > limit {
      throw TooLongAnswer()
    }
    var (bytes, pace) = ([UInt8](), PeerPace(limits))
    // A peer that always has another piece ready keeps no thread of Swift's pool: each piece gives way.
    for try await chunk in body {
      guard chunk.readableBytes <= limit - bytes.count else { throw TooLongAnswer() }
      try pace.note(chunk.readableBytes, from: peer)
      guard !pace.isLate() else { throw TooLongAnswer() }
      bytes.append(contentsOf: chunk.readableBytesView)
      try await Slice.giveWay()
    }
    return bytes
  }
}
