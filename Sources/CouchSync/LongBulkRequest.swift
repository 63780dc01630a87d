package import Documents
import Scheduling
import Stores

/// The documents of a `_bulk_docs` that is too long for memory. Its text has arrived and is read again in parts.
///
/// Source: CouchDB, "POST /{db}/_bulk_docs".
package struct LongBulkRequest: Sendable {
  /// Reads a range of the text.
  package typealias Reading = @Sendable (Range<Int>) async throws -> [UInt8]

  /// The ranges of the documents in the text.
  let documents: [Range<Int>]
  /// The documents that are read together, by their indices.
  let parts: [Range<Int>]
  /// Whether the revisions are made here; false for a peer's revisions.
  package let isNewEdit: Bool
  /// Whether `all_or_nothing` is requested, which CouchDB removed in version 2.
  let isAllOrNothing: Bool
  /// Changes each document that is read; nil if none is changed.
  package var change: (@Sendable (JSONNode) async throws -> JSONNode)?
  private let read: Reading

  package static var scanner: JSONScanner {
    JSONScanner(member: "docs", restLimit: CouchLimits.bulkRestBytes)
  }

  /// Makes a request from a text that was scanned.
  /// - Parameter partBytes: documents of this many bytes together are read at once, and every longer one alone.
  /// - Throws: 400 for a text that is not a request, as far as it has no documents; 413 for too many documents, and for
  ///   too much besides them.
  package init(
    _ scanner: JSONScanner, partBytes: Int = CouchLimits.bulkPartBytes, _ read: @escaping Reading
  ) throws {
    try BulkRequest.check(count: scanner.elements.count)
    guard !scanner.isRestTooLong else {
      throw ServiceError.tooLarge(
        "A request has at most \(CouchLimits.bulkRestBytes) bytes besides its documents")
    }
    let request = try BulkRequest(CouchBody.object(scanner.rest))
    isNewEdit = request.isNewEdit
    isAllOrNothing = request.isAllOrNothing
    documents = scanner.elements
    parts = Self.parts(of: documents, partBytes)
    self.read = read
  }

  /// The bytes of the longest part that is read at once.
  package var longestPart: Int {
    parts.map { documents[$0.upperBound - 1].upperBound - documents[$0.lowerBound].lowerBound }
      .filter { $0 <= CouchLimits.bulk.maximumBytes }.max() ?? 0
  }

  private static func parts(of documents: [Range<Int>], _ partBytes: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var first = 0
    for (index, document) in documents.enumerated() {
      if index > first,
        document.upperBound - documents[first].lowerBound > partBytes
          || index - first == CouchLimits.commitDocuments
      {
        parts.append(first..<index)
        first = index
      }
    }
    if first < documents.count { parts.append(first..<documents.count) }
    return parts
  }

  /// The elements of a part.
  /// - Throws: 400 for a text that is not JSON; the errors of reading, and of ``change``.
  func elements(_ part: Range<Int>, _ limits: JSONLimits) async throws -> [BulkRequest.Element] {
    let range = documents[part.lowerBound].lowerBound..<documents[part.upperBound - 1].upperBound
    guard range.count <= CouchLimits.bulk.maximumBytes else {
      var elements: [BulkRequest.Element] = []
      for index in part { elements.append(try await refuse(documents[index], limits)) }
      return elements
    }
    let text = try await read(range)
    var elements: [BulkRequest.Element] = []
    for document in documents[part] {
      let (start, end) = (
        document.lowerBound - range.lowerBound, document.upperBound - range.lowerBound
      )
      var element = try BulkRequest.element(Array(text[start..<end]), limits)
      if let change { element = try await element.changed(by: change) }
      elements.append(element)
      try await Slice.giveWay()
    }
    return elements
  }

  /// A document that is too long to be parsed. Only its id and its revision are looked for, so that a replicator learns
  /// which one it is, and so that its refusal can be kept.
  /// - Throws: 400 for anything but an object.
  private func refuse(
    _ document: Range<Int>, _ limits: JSONLimits
  ) async throws -> BulkRequest.Element {
    var scanners = ["_id", "_rev"].map { JSONScanner(member: $0, restLimit: 0) }
    var start = document.lowerBound
    while start < document.upperBound, scanners.contains(where: { $0.value == nil }) {
      let end = min(start + CouchLimits.bulkPartBytes, document.upperBound)
      let text = try await read(start..<end)
      guard start > document.lowerBound || text.first == UInt8(ascii: "{") else {
        throw ServiceError.badRequest("Document must be a JSON object")
      }
      start = end
      for index in scanners.indices where scanners[index].value == nil {
        scanners[index].take(text)
        try await Slice.giveWay()
      }
    }
    return .refused(
      id: try await string(scanners[0].value, in: document),
      revision: try await string(scanners[1].value, in: document),
      ServiceError(.forbidden, "The document is longer than \(limits.maximumBytes) bytes"))
  }

  /// The string in a range of a document; nil for a long one, and for anything else.
  private func string(_ value: Range<Int>?, in document: Range<Int>) async throws -> String? {
    guard let value, value.count <= JSONLimits.small.maximumBytes else { return nil }
    let text = try await read(
      document.lowerBound + value.lowerBound..<document.lowerBound + value.upperBound)
    return try? ParsedJSON(text, limits: .small).root.string
  }
}

extension CouchDatabase {
  /// `POST /{db}/_bulk_docs` with a body that is too long for memory. All documents are read and checked before the
  /// first is written; then they are committed in groups, as with a shorter body.
  /// - Parameter progress: is told of each part that is done.
  /// - Returns: the same answer as for ``bulkDocuments(_:)``.
  /// - Throws: the same errors, and those of reading.
  package func bulkDocuments(
    _ request: LongBulkRequest, progress: @Sendable () -> Void
  ) async throws -> CouchAnswer {
    let limits = documentLimits.document
    func read(_ part: Range<Int>, keepingRefused: Bool = false) async throws -> [BulkEntry] {
      try await entries(
        try await request.elements(part, limits), isNewEdit: request.isNewEdit,
        keepingRefused: keepingRefused)
    }
    var heads: [BulkEntry.Head] = []
    for part in request.parts {
      heads += try await read(part).map(\.head)
      progress()
    }
    guard !request.isAllOrNothing else { return notAtomic(heads) }
    var bulk = BulkWriter(self, count: heads.count)
    for part in request.parts {
      // Each part is read more than once, and is refused once. Nothing is kept of a request that is refused as a whole.
      let entries = try await read(part, keepingRefused: true)
      // The ids that were made for documents without one.
      heads.replaceSubrange(part, with: entries.map(\.head))
      try await bulk.writeDocuments(of: entries, from: part.lowerBound)
      progress()
    }
    for part in request.parts where heads[part].contains(where: \.isLocal) {
      try await bulk.writeLocals(of: try await read(part), from: part.lowerBound)
      progress()
    }
    return try answer(heads, bulk, isNewEdit: request.isNewEdit)
  }
}
