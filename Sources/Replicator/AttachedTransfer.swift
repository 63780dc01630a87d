import AsyncHTTPClient
import Documents
import NIOCore
import NIOHTTP1

/// Copies a revision with attachments from one peer to another. The bytes pass through, and are never whole in memory.
///
/// Source: CouchDB, "GET /{db}/{docid}: efficient multiple attachments retrieving" and "PUT: creating multiple
/// attachments".
struct AttachedTransfer: Sendable {
  let source: ReplicationPeer
  let target: ReplicationPeer
  let revision: MissingRevision

  /// What became of a revision.
  enum Outcome: Sendable {
    case written(bytes: Int)
    /// It was replaced at the source meanwhile.
    case absent
    /// It can never be stored at the target.
    case refused
  }

  /// How long a target may take until it answers. It answers after the last byte, which the pace of the source bounds.
  private static let patience = TimeAmount.hours(24)
  /// The most bytes of one revision that are counted: 1 TiB, so that no length that a source names overflows a sum.
  private static let mostCounted: Int64 = 1 << 40

  /// - Throws: ``ReplicationFailure``; `CancellationError`.
  func run() async throws -> Outcome {
    var (hasAncestors, pause) = (!revision.ancestors.isEmpty, ReplicationPeer.pause)
    for attempt in 1... {
      let isLast = attempt >= ReplicationPeer.attempts
      do {
        let (status, bytes) = try await attemptOnce(sinceAncestors: hasAncestors)
        switch status {
        case nil: return .absent
        case 404?: throw ReplicationFailure.notFound(target.name)
        case 507?: throw target.full
        case 200?, 201?, 202?: return .written(bytes: bytes)
        case 401? where attempt > 1:
          // A design document that only this user may not write; or the whole database, and then this throws.
          _ = try await target.open()
          return .refused
        // A person's token may have ended: the next attempt has another one.
        case 401?: break
        case 412? where hasAncestors, 414? where hasAncestors:
          // The target does not have the attachment that a stub stands for, or the question was too long.
          hasAncestors = false
        // 414: an id that came in a body may be too long for a path.
        case 403?, 413?, 414?, 415?: return .refused
        // Bytes that do not fit their digest may have changed on the way.
        case 400?, 409?, 412?: if isLast { return .refused }
        case let status? where !ReplicationPeer.mayPass(status):
          throw ReplicationFailure.badAnswer(
            target.name, "status \(status) for a document with attachments")
        case let status?:
          if isLast {
            throw ReplicationFailure.unreachable(target.name, "status \(status) for an attachment")
          }
        }
      } catch is UnreadableDocument {
        return .refused
      } catch let error where !(error is CancellationError) {
        if isLast || error is ReplicationFailure {
          throw (error as? PassingFailure)?.failure ?? target.failure(error)
        }
      }
      try await Task.sleep(for: pause / 2 + pause * Double.random(in: 0...0.5))
      pause *= 2
    }
    return .refused
  }

  /// - Returns: the target's status, nil if the source does not have the revision, 414 if its path is too long; and the
  ///   bytes, as far as the source has named their number.
  private func attemptOnce(sinceAncestors: Bool) async throws -> (status: Int?, bytes: Int) {
    let path = PathSegment.path(ofDocument: revision.id)
    var question = source.request(
      .GET, path,
      [
        ("rev", revision.revision), ("revs", "true"), ("attachments", "true"),
        ("atts_since", sinceAncestors ? String(decoding: revision.ancestors, as: UTF8.self) : nil),
      ])
    question.headers.replaceOrAdd(name: "accept", value: "multipart/related, application/json")
    let answer: HTTPClientResponse
    do { answer = try await source.begin(question) } catch let error
      where !(error is ReplicationFailure)
    {
      throw PassingFailure(source.failure(error))
    }
    guard answer.status.code == 200 else {
      let status = Int(answer.status.code)
      if [404, 414].contains(status) { return (status == 404 ? nil : status, 0) }
      let failure = ReplicationFailure.unreachable(source.name, "status \(status) for a document")
      throw ReplicationPeer.mayPass(status) ? PassingFailure(failure) as any Error : failure
    }
    let type = answer.headers.first(name: "content-type") ?? ""
    var request = target.request(.PUT, path, [("new_edits", "false")])
    let pace = source.pace.stream(to: target.pace)
    let length = answer.headers.first(name: "content-length").flatMap { Int64($0) }
      .map { max($0, 0) }
    if let boundary = Self.boundary(type) {
      request.headers.add(name: "content-type", value: type)
      request.body = .stream(
        CheckedBody(
          body: answer.body, boundary: boundary, revision: revision, peer: source, limits: pace),
        length: length.map { .known($0) } ?? .unknown)
    } else {
      let bytes: [UInt8]
      do {
        bytes = try await answer.collected(
          upTo: CheckedBody.maximumBytes, from: source.name, within: pace)
      } catch is TooLongAnswer { throw UnreadableDocument() }
      try await revision.check(bytes, from: source)
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(bytes: bytes))
    }
    let written = try await target.begin(request, within: Self.patience)
    let body = try? await written.collected(
      upTo: PeerAnswer.shortBytes, from: target.name, within: target.pace)
    let status = Int(written.status.code)
    try await check(PeerAnswer(status: status, body: body ?? []))
    return (status, Int(min(length ?? 0, Self.mostCounted)))
  }

  /// Checks that what decides about the document is the target's answer. Something between may answer in its place, such
  /// as a network's log-in page, and the document would count as copied or as refused for good.
  private func check(_ answer: PeerAnswer) async throws {
    let isRefusal = answer.status == 403
    guard isRefusal || [200, 201, 202].contains(answer.status) else { return }
    let node = try await target.computing { try? await answer.json(within: ReplicationLog.limits) }
    guard node?[isRefusal ? "error" : "ok"] == nil else { return }
    throw PassingFailure(
      ReplicationFailure.unreachable(target.name, "something else answers in its place"))
  }

  /// The boundary of `multipart/related`; nil for another type.
  static func boundary(_ type: String) -> String? {
    guard type.lowercased().hasPrefix("multipart/related"),
      let mark = type.firstRange(of: "boundary=")
    else { return nil }
    let text = type[mark.upperBound...].drop { $0 == "\"" }.prefix { $0 != "\"" && $0 != ";" }
    return (1...70).contains(text.utf8.count) ? String(text) : nil
  }
}

/// A failure after which the same may succeed.
struct PassingFailure: Error {
  let failure: ReplicationFailure

  init(_ failure: any Error) { self.failure = failure as? ReplicationFailure ?? .cancelled }
}

/// A document that is too long, or no JSON that can be stored here.
struct UnreadableDocument: Error {}

extension MissingRevision {
  /// Checks a document that a source has sent.
  /// - Throws: ``UnreadableDocument``; ``ReplicationFailure`` for another revision; ``PassingFailure`` for what is no JSON,
  ///   such as a page that something between sends in the source's place.
  fileprivate func check(_ document: [UInt8], from peer: ReplicationPeer) async throws {
    let answer = PeerAnswer(status: 200, body: document)
    let node: JSONNode
    do {
      node = try await peer.computing { try await answer.json() }
    } catch let error as JSONError {
      guard error.code == .invalidJSON else { throw UnreadableDocument() }
      throw PassingFailure(ReplicationFailure.unreachable(peer.name, "a document is no JSON"))
    }
    guard isAnswered(by: node) else { throw ReplicationFailure.anotherRevision(peer.name) }
  }
}

extension ReplicationFailure {
  static func anotherRevision(_ peer: String) -> ReplicationFailure {
    badAnswer(peer, "it has sent another revision than was asked for")
  }
}

/// A body of several parts that passes on from a source to a target after its first part, the document, was checked.
struct CheckedBody: AsyncSequence, Sendable {
  /// The longest document, in bytes.
  static let maximumBytes = PeerAnswer.maximumBytes
  /// The longest head of the document's part, in bytes.
  fileprivate static let maximumHead = 16 << 10

  let body: HTTPClientResponse.Body
  let boundary: String
  let revision: MissingRevision
  let peer: ReplicationPeer
  let limits: PeerPace.Limits

  func makeAsyncIterator() -> Iterator {
    Iterator(
      rest: body.makeAsyncIterator(), boundary: boundary, revision: revision, peer: peer,
      pace: PeerPace(limits))
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var rest: HTTPClientResponse.Body.AsyncIterator
    fileprivate let boundary: String
    fileprivate let revision: MissingRevision
    fileprivate let peer: ReplicationPeer
    fileprivate var isChecked = false
    fileprivate var pace: PeerPace

    /// - Throws: ``ReplicationFailure`` for another document than was asked for, and for a slow source; the client's errors.
    @concurrent mutating func next() async throws -> ByteBuffer? {
      guard isChecked else { return try await first() }
      guard let chunk = try await rest.next() else { return nil }
      try pace.note(chunk.readableBytes, from: peer.name)
      return chunk
    }

    @concurrent private mutating func first() async throws -> ByteBuffer {
      var (buffer, start, searched) = ([UInt8](), Int?.none, 0)
      while let chunk = try await rest.next() {
        try pace.note(chunk.readableBytes, from: peer.name)
        buffer.append(contentsOf: chunk.readableBytesView)
        if start == nil, let head = buffer.offset(of: Self.blankLine, from: searched) {
          (start, searched) = (head + Self.blankLine.count, head + Self.blankLine.count)
        }
        let mark = start == nil ? Self.blankLine : Array("\r\n--\(boundary)".utf8)
        if let start, let end = buffer.offset(of: mark, from: searched) {
          try await revision.check(Array(buffer[start..<end]), from: peer)
          isChecked = true
          return ByteBuffer(bytes: buffer)
        }
        searched = Swift.max(searched, buffer.count - mark.count + 1)
        let most = start == nil ? CheckedBody.maximumHead : CheckedBody.maximumBytes
        guard buffer.count <= most else { throw UnreadableDocument() }
      }
      throw PassingFailure(
        ReplicationFailure.unreachable(peer.name, "a document with attachments has ended early"))
    }

    private static let blankLine = Array("\r\n\r\n".utf8)
  }
}
