import Documents
import NIOHTTP1
import Scheduling

/// A revision that the target lacks.
struct MissingRevision: Sendable {
  let id: String
  let revision: String
  /// Leaves of the target from which it may descend, as JSON, so that attachments that the target has are not sent.
  let ancestors: [UInt8]

  /// Whether a document that a source has sent is this one. A source may lie, and a proxy may mix answers up.
  func isAnswered(by document: JSONNode) -> Bool {
    guard document["_id"]?.stringEquals(id) == true,
      document["_rev"]?.stringEquals(revision) == true,
      let history = document["_revisions"], let start = history["start"]?.int,
      let first = history["ids"]?[0]?.string
    else { return false }
    return "\(start)-\(first)".utf8.elementsEqual(revision.utf8)
  }
}

/// Changed revisions that a target is asked about: those of one document together, and each once, however often a feed
/// names it.
struct RevisionQuestions: Sendable {
  /// The most revisions of one question.
  static let most = 5_000

  private struct Question {
    let id: String
    var revisions: [String] = []
    /// Those that the target has not named yet, by their bytes.
    var open: Set<[UInt8]> = []
  }

  private var questions: [Question] = []
  /// Where the question about an id is, by the id's bytes.
  private var positions: [[UInt8]: Int] = [:]

  /// How many revisions there are.
  private(set) var count = 0

  /// Takes the revisions of some rows, in slices.
  /// - Throws: ``WorkEnded``.
  init(_ rows: [PeerChanges.Row]) async throws {
    for row in rows {
      let position = positions[Array(row.id.utf8)] ?? questions.count
      if position == questions.count {
        positions[Array(row.id.utf8)] = position
        questions.append(Question(id: row.id))
      }
      for revision in row.revisions {
        try await Slice.giveWay()
        guard questions[position].open.insert(Array(revision.utf8)).inserted else { continue }
        questions[position].revisions.append(revision)
        count += 1
      }
      try await Slice.giveWay()
    }
  }

  /// The bodies of the questions.
  /// - Throws: ``WorkEnded``.
  func bodies() async throws -> [[UInt8]] {
    var (bodies, writer, count) = ([[UInt8]](), JSONWriter(), 0)
    writer.beginObject()
    for question in questions {
      var rest = question.revisions[...]
      while !rest.isEmpty {
        let part = rest.prefix(Self.most - count)
        rest = rest.dropFirst(part.count)
        count += part.count
        writer.name(question.id)
        writer.beginArray()
        for revision in part {
          writer.string(revision)
          try await Slice.giveWay()
        }
        writer.endArray()
        guard count >= Self.most else { continue }
        writer.endObject()
        bodies.append(writer.bytes)
        (writer, count) = (JSONWriter(), 0)
        writer.beginObject()
      }
    }
    writer.endObject()
    if count > 0 { bodies.append(writer.bytes) }
    return bodies
  }

  /// The question about a document; nil if there is none.
  func position(of id: String) -> Int? { positions[Array(id.utf8)] }

  /// Takes a revision out that the target lacks.
  /// - Parameter position: that of its document.
  /// - Returns: false for one that it was not asked about, and for one that it names again.
  mutating func remove(_ revision: String, at position: Int) -> Bool {
    questions[position].open.remove(Array(revision.utf8)) != nil
  }
}

extension ReplicationPeer {
  /// The longest list of ancestors that is sent to a source, in bytes: 4 KiB, which is in the URL of a request.
  private static let longestAncestors = 4 << 10

  /// Asks a target which of the changed revisions it lacks.
  /// - Returns: those, and how many were asked about.
  /// - Throws: ``ReplicationFailure``; ``TooLongAnswer``.
  func missing(
    among rows: [PeerChanges.Row]
  ) async throws -> (revisions: [MissingRevision], asked: Int) {
    var questions = try await computing { try await RevisionQuestions(rows) }
    var found: [MissingRevision] = []
    let bodies = try await computing { try await questions.bodies() }
    for body in bodies { found += try await missing(body, &questions) }
    return (found, questions.count)
  }

  /// A target gets what was asked about, and nothing else that it names.
  private func missing(
    _ question: [UInt8], _ questions: inout RevisionQuestions
  ) async throws -> [MissingRevision] {
    let answer = try await send(.POST, "_revs_diff", body: question)
    guard answer.status == 200 else { throw await refused(answer, "_revs_diff") }
    let node = try await computing { try? await answer.json() }
    guard let node, node.kind == .object else { throw malformedDifference }
    return try await computing { try await missing(in: node, of: &questions) }
  }

  private var malformedDifference: ReplicationFailure {
    .badAnswer(name, "its _revs_diff is malformed")
  }

  /// - Throws: ``ReplicationFailure`` for another JSON object, which would say that the target lacks nothing.
  private func missing(
    in node: JSONNode, of questions: inout RevisionQuestions
  ) async throws -> [MissingRevision] {
    var missing: [MissingRevision] = []
    for member in node.members {
      let id = member.name
      guard let revisions = member.value["missing"] else { throw malformedDifference }
      guard let position = questions.position(of: id) else { continue }
      var ancestors: [UInt8] = []
      if let list = member.value["possible_ancestors"], list.kind == .array, list.count > 0,
        list.offsets.count <= Self.longestAncestors
      {
        ancestors = list.minified
      }
      for element in revisions.elements {
        if let revision = element.string, questions.remove(revision, at: position) {
          missing.append(MissingRevision(id: id, revision: revision, ancestors: ancestors))
        }
        try await Slice.giveWay()
      }
      try await Slice.giveWay()
    }
    return missing
  }

  /// Reads revisions by `_bulk_get`, without attachments.
  /// - Returns: nil if the source can't answer this request as a whole, so that fewer have to be asked for.
  /// - Throws: ``ReplicationFailure``; ``TooLongAnswer``.
  func bulkGet(_ revisions: [MissingRevision]) async throws -> FetchedRevisions? {
    let body = JSONWriter.object { writer in
      writer.objects("docs", of: revisions) { revision, writer in
        writer.member("id", revision.id)
        writer.member("rev", revision.revision)
      }
    }
    let answer = try await send(
      .POST, "_bulk_get", [("revs", "true"), ("attachments", "false")], body: body)
    switch answer.status {
    case 200: break
    case 401, 403: throw await refused(answer, "_bulk_get")
    // A server without `_bulk_get` is asked for each document, as one with attachments.
    case 404, 405, 501: return FetchedRevisions(attached: revisions)
    default: return nil
    }
    return try await computing { try await fetched(answer, of: revisions) }
  }

  private func fetched(
    _ answer: PeerAnswer, of revisions: [MissingRevision]
  ) async throws -> FetchedRevisions? {
    guard let results = try? await answer.json()["results"], results.kind == .array,
      results.count == revisions.count
    else { return nil }
    var fetched = FetchedRevisions()
    for (revision, result) in zip(revisions, results.elements) {
      try await Slice.giveWay()
      guard let found = result["docs"], found.count == 1, let element = found[0] else { return nil }
      guard let document = element["ok"] else {
        guard let error = element["error"] else { return nil }
        // A missing revision was replaced meanwhile: the newer one is a later change. Any other failure may pass, so the
        // revision is asked for by itself.
        if error["error"]?.stringEquals("not_found") != true { fetched.attached.append(revision) }
        continue
      }
      guard revision.isAnswered(by: document) else {
        throw ReplicationFailure.anotherRevision(name)
      }
      if let stubs = document["_attachments"], stubs.count > 0 {
        fetched.attached.append(revision)
      } else {
        fetched.documents.append(document.minified)
      }
    }
    return fetched
  }

  /// Writes revisions that were made elsewhere.
  /// - Returns: how many of them can never be stored; nil if the target refuses the request as a whole, so that fewer have
  ///   to be sent.
  /// - Throws: ``ReplicationFailure``; ``TooLongAnswer``.
  func write(_ documents: [[UInt8]]) async throws -> Int? {
    let body = try await computing {
      var writer = JSONWriter(reserving: documents.reduce(64) { $0 + $1.count + 1 })
      writer.beginObject()
      writer.member("new_edits", false)
      writer.name("docs")
      writer.beginArray()
      for document in documents {
        writer.raw(document)
        try await Slice.giveWay()
      }
      writer.endArray()
      writer.endObject()
      return writer.bytes
    }
    let answer = try await send(.POST, "_bulk_docs", body: body)
    switch answer.status {
    case 201, 202:
      return try await computing {
        guard let list = try? await answer.json(), list.kind == .array else {
          throw ReplicationFailure.badAnswer(name, "its _bulk_docs is malformed")
        }
        return min(list.elements.count { $0["error"] != nil }, documents.count)
      }
    case 400, 413, 415: return nil
    default: throw await refused(answer, "_bulk_docs")
    }
  }
}

/// What a source has sent of some revisions.
struct FetchedRevisions: Sendable {
  /// Documents without attachments, in JSON.
  var documents: [[UInt8]] = []
  /// Revisions whose attachments have to come with them.
  var attached: [MissingRevision] = []
}
