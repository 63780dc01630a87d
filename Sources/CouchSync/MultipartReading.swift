package import Documents
import JSON
import Scheduling
import Stores

/// A revision with the attachments that follow it.
package struct MultipartDocument: Sendable {
  /// The document as JSON.
  package let json: [UInt8]
  /// The attachments, in the order in which the document names them.
  package let attachments: [FoundAttachment]
}

/// A revision that `open_revs` requests.
package enum MultipartRevision: Sendable {
  case document(MultipartDocument)
  /// It is unknown, or its body is not kept. The value is the revision as sent.
  case missing(String)
}

/// Documents with their attachments as parts of an answer.
///
/// Source: CouchDB, "GET /{db}/{docid}: efficient multiple attachments retrieving".
extension CouchDatabase {
  /// A document with the attachments that the query asks for.
  /// - Throws: 404 `missing` or `deleted`.
  package func multipartDocument(
    _ id: DocumentID, _ query: DocumentQuery
  ) async throws -> MultipartDocument {
    try await store.read { view in
      let reader = try DocumentReader(id, in: view, extras: query.extras, needsTree: true)
      guard let reader else { throw DocumentError.missing }
      guard query.revision != nil || !reader.isDeleted else { throw DocumentError.deleted }
      let asked = query.revision ?? reader.winningRevision
      let revision = query.latest ? reader.leaf(below: asked) ?? asked : asked
      guard let document = try reader.multipart(revision, in: view) else {
        throw DocumentError.missing
      }
      return document
    }
  }

  /// Whether some kept revision of a document has attachments.
  package func hasAttachments(_ id: DocumentID) async throws -> Bool {
    try await store.readInline { view in try view.hasAttachments(id) }
  }

  /// The revisions that `open_revs` requests, with all attachments that the client does not have.
  /// - Throws: 404 `missing` when all leaves of an unknown document are requested; 503 when there is no memory.
  package func multipartRevisions(
    of id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery
  ) async throws -> [MultipartRevision] {
    let reserve = reserveAnswer
    return try await store.read(inSlices: Progress()) { progress, view in
      let reader =
        try progress.reader?.renewed(in: view)
        ?? DocumentReader(id, in: view, extras: query.extras, needsTree: true)
      progress.reader = reader
      let targets =
        progress.targets ?? Self.targets(of: wanted, latest: query.latest, by: reader)
      progress.targets = targets
      guard wanted != .all || !targets.isEmpty else { throw DocumentError.missing }
      while progress.revisions.count < targets.count {
        let target = targets[progress.revisions.count]
        let found = try target.revision.flatMap { try reader?.multipart($0, in: view) }
        progress.bytes += found?.json.count ?? 0
        guard reserve(progress.bytes) else { throw Self.noMemory }
        progress.revisions.append(found.map { .document($0) } ?? .missing(target.asked.text))
        if view.slice.isOver { break }
      }
      return progress.revisions.count < targets.count ? nil : progress.revisions
    }
  }

  private struct Progress: Sendable {
    var reader: DocumentReader?
    /// Nil before the first slice.
    var targets: [WantedRevisions.Target]?
    var revisions: [MultipartRevision] = []
    var bytes = 0
  }

  private static func targets(
    of wanted: OpenRevisions, latest: Bool, by reader: DocumentReader?
  ) -> [WantedRevisions.Target] {
    switch wanted {
    case .all: return WantedRevisions([], by: reader, latest: false).leaves
    case .these(let revisions):
      var all = WantedRevisions(revisions.compactMap(\.revision), by: reader, latest: latest)
      return revisions.flatMap { all.targets(of: $0) }
    }
  }
}
