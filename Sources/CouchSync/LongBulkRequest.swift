import Documents
package import JSON
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
  let isNewEdit: Bool
  /// Whether `all_or_nothing` is requested, which CouchDB removed in version 2.
  let isAllOrNothing: Bool
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
  /// - Throws: 400 for a text that is not JSON; the errors of reading.
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
      elements.append(try BulkRequest.element(Array(text[start..<end]), limits))
      try await Slice.giveWay()
    }
    return elements
  }

  /// A document that is too long to be parsed. Only its id is looked for, so that a replicator learns which one it is.
  /// - Throws: 400 for anything but an object.
  private func refuse(
    _ document: Range<Int>, _ limits: JSONLimits
  ) async throws -> BulkRequest.Element {
    var scanner = JSONScanner(member: "_id", restLimit: 0)
    var start = document.lowerBound
    while start < document.upperBound, scanner.value == nil {
      let end = min(start + CouchLimits.bulkPartBytes, document.upperBound)
      let text = try await read(start..<end)
      guard start > document.lowerBound || text.first == UInt8(ascii: "{") else {
        throw ServiceError.badRequest("Document must be a JSON object")
      }
      scanner.take(text)
      start = end
      try await Slice.giveWay()
    }
    var id: String?
    if let value = scanner.value, value.count <= JSONLimits.small.maximumBytes {
      let text = try await read(
        document.lowerBound + value.lowerBound..<document.lowerBound + value.upperBound)
      id = try? ParsedJSON(text, limits: .small).root.string
    }
    return .refused(
      id: id,
      ServiceError(.forbidden, "The document is longer than \(limits.maximumBytes) bytes"))
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
    func read(_ part: Range<Int>) async throws -> [BulkEntry] {
      try await entries(
        try await request.elements(part, limits), isNewEdit: request.isNewEdit)
    }
    var heads: [BulkEntry.Head] = []
    for part in request.parts {
      heads += try await read(part).map(\.head)
      progress()
    }
    guard !request.isAllOrNothing else { return notAtomic(heads) }
    var bulk = BulkWriter(self, count: heads.count)
    for part in request.parts {
      let entries = try await read(part)
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
