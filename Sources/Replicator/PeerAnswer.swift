import AsyncHTTPClient
import JSON
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
  static let limits = {
    var limits = JSONLimits(
      maximumBytes: maximumBytes, maximumDepth: JSONLimits.document.maximumDepth + 8,
      maximumMembers: maximumBytes, maximumStringBytes: maximumBytes)
    limits.needsDouble = false
    return limits
  }()

  /// The answer's JSON, parsed in slices.
  /// - Throws: ``JSONError``.
  func json(within limits: JSONLimits = PeerAnswer.limits) async throws -> JSONNode {
    try await Self.json(body, within: limits)
  }

  static func json(
    _ bytes: [UInt8], within limits: JSONLimits = PeerAnswer.limits
  ) async throws -> JSONNode {
    var reader = JSONReader(bytes, limits: limits)
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
/// years.
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

  private let limits: Limits
  private let began: ContinuousClock.Instant
  private(set) var count = 0

  init(_ limits: Limits, since began: ContinuousClock.Instant = .now) {
    (self.limits, self.began) = (limits, began)
  }

  /// Notes more bytes.
  /// - Returns: false for too slow a body.
  mutating func note(_ bytes: Int, at now: ContinuousClock.Instant = .now) -> Bool {
    count += bytes
    let seconds = Int((now - began).components.seconds)
    return seconds < 60 || count / seconds >= limits.leastPerSecond
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
    for try await chunk in body {
      guard chunk.readableBytes <= limit - bytes.count else { throw TooLongAnswer() }
      guard pace.note(chunk.readableBytes) else { throw ReplicationFailure.slow(peer) }
      guard !pace.isLate() else { throw TooLongAnswer() }
      bytes.append(contentsOf: chunk.readableBytesView)
    }
    return bytes
  }
}

extension ReplicationFailure {
  static func slow(_ peer: String) -> ReplicationFailure {
    unreachable(peer, "its answer comes too slowly")
  }
}
