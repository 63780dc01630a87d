import Documents
import JSON
import NIOHTTP1
import Scheduling

/// A revision that the target lacks.
struct MissingRevision: Sendable {
  let id: String
  let revision: String
  /// Leaves of the target from which it may descend, as JSON, so that attachments that the target has are not sent.
  let ancestors: [UInt8]

  /// What tells one revision from another, by bytes. An id has no NUL.
  static func key(_ id: String, _ revision: String) -> [UInt8] {
    Array(id.utf8) + [0] + Array(revision.utf8)
  }

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

extension ReplicationPeer {
  /// The most revisions of one question.
  private static let askedRevisions = 5_000

  /// Asks a target which of the changed revisions it lacks.
  /// - Returns: those, and how many were asked about.
  /// - Throws: ``ReplicationFailure``; ``TooLongAnswer``.
  func missing(
    among rows: [PeerChanges.Row]
  ) async throws -> (revisions: [MissingRevision], asked: Int) {
    var (found, total) = ([MissingRevision](), 0)
    var rest = rows[...]
    while !rest.isEmpty {
      var (writer, count, known) = (JSONWriter(), 0, Set<[UInt8]>())
      var asked: Set<[UInt8]> = []
      writer.beginObject()
      while let row = rest.first, count == 0 || count + row.revisions.count <= Self.askedRevisions {
        // A name may occur once in an object. A feed that names a document twice is read in two questions.
        guard known.insert(Array(row.id.utf8)).inserted else { break }
        writer.name(row.id)
        writer.beginArray()
        for revision in row.revisions {
          writer.string(revision)
          asked.insert(MissingRevision.key(row.id, revision))
        }
        writer.endArray()
        count += row.revisions.count
        rest = rest.dropFirst()
        try await Slice.giveWay()
      }
      writer.endObject()
      // A target gets what was asked about, and nothing else that it names.
      found += try await missing(writer.bytes).filter {
        asked.contains(MissingRevision.key($0.id, $0.revision))
      }
      total += count
    }
    return (found, total)
  }

  private func missing(_ question: [UInt8]) async throws -> [MissingRevision] {
    let answer = try await send(.POST, "_revs_diff", body: question)
    guard answer.status == 200 else { throw await refused(answer, "_revs_diff") }
    guard let node = try? await answer.json(), node.kind == .object else {
      throw ReplicationFailure.badAnswer(name, "its _revs_diff is malformed")
    }
    var missing: [MissingRevision] = []
    for member in node.members {
      let ancestors = member.value["possible_ancestors"]
      let list = ancestors.flatMap { $0.kind == .array && $0.count > 0 ? $0.minified : nil } ?? []
      guard let revisions = member.value["missing"] else { continue }
      for case let revision? in revisions.elements.map(\.string) {
        missing.append(MissingRevision(id: member.name, revision: revision, ancestors: list))
      }
      try await Slice.giveWay()
    }
    return missing
  }
}

/// What a source has sent of some revisions.
struct FetchedRevisions: Sendable {
  /// Documents without attachments, in JSON.
  var documents: [[UInt8]] = []
  /// Revisions whose attachments have to come with them.
  var attached: [MissingRevision] = []
}

extension ReplicationPeer {
  /// Reads revisions by `_bulk_get`, without attachments.
  /// - Returns: nil if the source can't answer this request as a whole, so that fewer have to be asked for.
  /// - Throws: ``ReplicationFailure``; ``TooLongAnswer``.
  func bulkGet(_ revisions: [MissingRevision]) async throws -> FetchedRevisions? {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("docs")
    writer.beginArray()
    for revision in revisions {
      writer.beginObject()
      writer.member("id", revision.id)
      writer.member("rev", revision.revision)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    let answer = try await send(
      .POST, "_bulk_get", ["revs": "true", "attachments": "false"], body: writer.bytes)
    switch answer.status {
    case 200: break
    case 401, 403: throw await refused(answer, "_bulk_get")
    // A server without `_bulk_get` is asked for each document, as one with attachments.
    case 404, 405, 501: return FetchedRevisions(attached: revisions)
    default: return nil
    }
    guard let results = try? await answer.json()["results"], results.kind == .array,
      results.count == revisions.count
    else { return nil }
    var fetched = FetchedRevisions()
    for (revision, result) in zip(revisions, results.elements) {
      try await Slice.giveWay()
      guard let found = result["docs"], found.count == 1, let element = found[0] else { return nil }
      guard let document = element["ok"] else {
        // The revision was replaced meanwhile: the newer one is a later change.
        guard element["error"] != nil else { return nil }
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
    let answer = try await send(.POST, "_bulk_docs", body: writer.bytes)
    switch answer.status {
    case 201, 202:
      guard let list = try? await answer.json(), list.kind == .array else {
        throw ReplicationFailure.badAnswer(name, "its _bulk_docs is malformed")
      }
      return min(list.elements.count { $0["error"] != nil }, documents.count)
    case 400, 413, 415: return nil
    default: throw await refused(answer, "_bulk_docs")
    }
  }
}
