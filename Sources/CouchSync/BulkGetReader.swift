import Documents
import HashTreeCollections
package import JSON
import Lanes
import Stores

/// Answers `_bulk_get` in slices, each from one snapshot of the store: one entry of `results` for each requested
/// element, in order.
///
/// Elements of the same document are answered one after the other, wherever they are in the request, so that the
/// document is read once.
struct BulkGetReader: AnswerReader {
  private let request: BulkGetRequest
  /// The indexes of the elements in the order in which they are answered; nil for the order of the request.
  private let order: [Int]?
  /// The number of elements that are answered.
  private var count = 0
  private var document: AskedDocument?
  /// The revisions that are still to be read for the present element; nil between two elements.
  private var targets: ArraySlice<WantedRevisions.Target>?
  /// The results by the index of their elements; empty when they are written in the order of the request.
  private var results: [[[UInt8]]]
  /// The number of results that were put in order; nil until all results exist.
  private var ordered: Int?
  var text = AnswerText()
  /// Results that wait for their places are not written yet.
  var isInParts: Bool { order == nil }

  /// Makes a reader for a request.
  init(_ request: BulkGetRequest) {
    self.request = request
    order = request.orderByDocument
    results = order == nil ? [] : Array(repeating: [], count: request.entries.count)
    if order == nil { begin() }
  }

  private mutating func begin() {
    text.writer.beginObject()
    text.writer.name("results")
    text.writer.beginArray()
  }

  mutating func read(_ view: any StoreView) throws -> Bool {
    if ordered != nil { return finish() }
    try document?.renew(in: view)
    while count < request.entries.count {
      let index = order?[count] ?? count
      let entry = request.entries[index]
      if targets == nil { try begin(entry, view) }
      while let target = targets?.popFirst() {
        try append(target, of: entry, view)
        text.flush()
        if pauses, targets?.isEmpty == false { return false }
      }
      end(at: index)
      if pauses { break }
    }
    return count == request.entries.count && finish()
  }

  /// Puts the results in order until the slice is over, and then ends the answer.
  private mutating func finish() -> Bool {
    if ordered == nil, !results.isEmpty { begin() }
    var next = ordered ?? 0
    defer { ordered = next }
    while next < results.count {
      text.append(pieces: results[next])
      text.flush()
      results[next] = []
      next += 1
      if Slice.isOver { return false }
    }
    text.writer.endArray()
    text.writer.endObject()
    return true
  }

  private mutating func begin(
    _ entry: BulkGetRequest.Entry, _ view: any StoreView
  ) throws {
    targets = []
    if let id = entry.id, document?.isOf(id) != true {
      let asked = request.entries(of: id, from: count, in: order)
      document = try AskedDocument(id, asked, request, in: view)
    }
    text.writer.beginObject()
    text.writer.name("id")
    Self.append(entry.id, to: &text.writer)
    text.writer.name("docs")
    text.writer.beginArray()
    guard entry.id != nil else {
      let reason = entry.isObject ? "document id missed" : "document must be a JSON object"
      return appendError(.badRequest(reason), entry)
    }
    do {
      if entry.revision == nil, let text = entry.sentRevision { _ = try NamedRevision(text) }
      let found = document?.targets(of: entry.revision) ?? []
      if found.isEmpty { appendError(.missing, entry) }
      targets = found[...]
    } catch {
      appendError(ServiceError(error), entry)
    }
  }

  /// Writes `{"ok":{…}}`.
  private mutating func append(
    _ target: WantedRevisions.Target, of entry: BulkGetRequest.Entry, _ view: any StoreView
  ) throws {
    guard let bytes = try document?.json(of: target, in: view) else {
      // The revision is no longer a leaf: a newer one replaced it between two slices.
      if entry.sentRevision != nil { appendError(.missing, entry) }
      return
    }
    text.writer.beginObject()
    text.writer.name("ok")
    text.value(bytes)
    text.writer.endObject()
  }

  private mutating func end(at index: Int) {
    text.writer.endArray()
    text.writer.endObject()
    if results.isEmpty { text.flush() } else { results[index] = text.removePieces() }
    targets = nil
    count += 1
  }

  /// Writes `{"error":{"id","rev","error","reason"}}`. When no revision was sent, `rev` is `undefined`, as in CouchDB.
  private mutating func appendError(_ error: ServiceError, _ entry: BulkGetRequest.Entry) {
    text.writer.beginObject()
    text.writer.name("error")
    text.writer.beginObject()
    text.writer.name("id")
    Self.append(entry.id, to: &text.writer)
    text.writer.member("rev", entry.sentRevision ?? "undefined")
    error.appendMembers(to: &text.writer)
    text.writer.endObject()
    text.writer.endObject()
  }

  private static func append(_ text: String?, to writer: inout JSONWriter) {
    if let text { writer.string(text) } else { writer.null() }
  }
}

/// The revisions that one `_bulk_get` asks for.
///
/// Source: CouchDB, "POST /{db}/_bulk_get".
package struct BulkGetRequest: Sendable {
  /// One element of `docs`. Its `id` and `rev` are checked when it is answered.
  struct Entry: Sendable {
    /// Whether the element is an object with members.
    let isObject: Bool
    /// The document's id; nil when the element has no `id` that is a string.
    let id: String?
    /// The revision as sent; nil for every leaf.
    let sentRevision: String?
    /// The revision; nil when none was sent, or the text is not a revision.
    let revision: NamedRevision?

    init(_ node: JSONNode) {
      isObject = node.kind == .object && node.count > 0
      id = node["id"]?.string
      sentRevision = node["rev"]?.string
      revision = sentRevision.flatMap { try? NamedRevision($0) }
    }
  }

  /// The elements, in order.
  let entries: [Entry]
  /// The extra members of each document.
  let extras: DocumentExtras
  /// Whether a revision that is not a leaf is replaced by the leaves that descend from it.
  let latest: Bool

  /// Parameters of a single document, which CouchDB refuses here (`chttpd_db:bulk_get_parse_doc_query`).
  private static let refused = ["open_revs", "new_edits", "w", "rev", "atts_since"]

  /// Reads a body and the query's `revs` and `latest`. CouchDB's replicator repeats them in the body, where they count
  /// too.
  /// - Throws: 400 for a body without `docs`, and for a parameter of a single document; 413 for too many documents.
  package init(_ body: JSONNode, _ parameters: CouchParameters) throws {
    if let name = Self.refused.first(where: { parameters[$0] != nil }) {
      throw ServiceError.badRequest("\"\(name)\" query parameter is not acceptable")
    }
    entries = try CouchBody.documents(in: body).map(Entry.init)
    var extras = DocumentExtras()
    extras.revisions = try parameters.flag("revs", default: body["revs"]?.bool ?? false)
    self.extras = extras
    latest = try parameters.flag("latest", default: body["latest"]?.bool ?? false)
  }
}

/// One document that `_bulk_get` requests, read once for all elements that name it.
struct AskedDocument: Sendable {
  private let id: String
  private var reader: DocumentReader?
  private var wanted: WantedRevisions
  /// The revisions that were read; the value is nil for one that is missing.
  private var known = TreeDictionary<RevisionID, [UInt8]?>()
  private let isNamedAgain: Bool

  /// Reads a document.
  /// - Parameter entries: the elements that name it.
  init(
    _ id: String, _ entries: [BulkGetRequest.Entry], _ request: BulkGetRequest,
    in view: any StoreView
  ) throws {
    self.id = id
    reader = try DocumentReader(
      DocumentID(stored: id), in: view, extras: request.extras, needsTree: true)
    wanted = WantedRevisions(
      entries.compactMap(\.revision?.revision), by: reader, latest: request.latest)
    isNamedAgain = entries.count > 1
  }

  /// Whether this is the document with an id.
  func isOf(_ id: String) -> Bool { self.id.equalsBytes(of: id) }

  /// Reads the document again when it has changed in a later snapshot of the store.
  mutating func renew(in view: any StoreView) throws {
    reader = try reader?.renewed(in: view)
  }

  /// The revisions to answer for a requested revision, or all leaves when none is requested.
  mutating func targets(of revision: NamedRevision?) -> [WantedRevisions.Target] {
    revision.map { wanted.targets(of: $0) } ?? wanted.leaves
  }

  /// A revision as JSON; nil when it is missing.
  mutating func json(
    of target: WantedRevisions.Target, in view: any StoreView
  ) throws -> [UInt8]? {
    guard let revision = target.revision else { return nil }
    if isNamedAgain, let known = known[revision] { return known }
    let bytes = try reader?.revision(revision, at: target.index, in: view)
    if isNamedAgain { known.updateValue(bytes, forKey: revision) }
    return bytes
  }
}

extension BulkGetRequest {
  /// The indexes of the elements, with those of one document next to each other in the order of the request; nil when
  /// they already are.
  var orderByDocument: [Int]? {
    guard entries.count > 2 else { return nil }
    var numbers: [DocumentID: Int] = Dictionary(minimumCapacity: entries.count)
    var ranks: [Int] = []
    ranks.reserveCapacity(entries.count)
    var isInOrder = true
    for (index, entry) in entries.enumerated() {
      var rank = index
      if let id = entry.id.map(DocumentID.init(stored:)) {
        rank = numbers[id] ?? index
        if rank == index { numbers[id] = index }
      }
      isInOrder = isInOrder && rank >= ranks.last ?? 0
      ranks.append(rank)
    }
    return isInOrder ? nil : entries.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
  }

  /// The consecutive elements from `first` on that name a document.
  func entries(of id: String, from first: Int, in order: [Int]?) -> [Entry] {
    var found: [Entry] = []
    for count in first..<entries.count {
      let entry = entries[order?[count] ?? count]
      guard entry.id?.equalsBytes(of: id) == true else { break }
      found.append(entry)
    }
    return found
  }
}

/// The keys that `_all_docs` requests, one after the other in the order of their rows.
struct AskedKeys: Sendable {
  private let list: JSONNode?
  private var elements: JSONElements?
  /// The positions of the keys in a descending query, until all are known.
  private var collected = GrowingList<UInt64>()
  /// The positions of the keys in a descending query; nil before all are known, and for the order of the list.
  private var positions: ArraySlice<UInt64>?
  private let descends: Bool
  private var skip: Int
  private var left: Int

  /// Makes the keys of a query; none when it requests a range.
  init(_ query: AllDocumentsQuery) {
    list = query.keys
    elements = query.keys?.elements
    descends = query.descending
    skip = query.skip
    left = query.limit ?? .max
  }

  /// Whether there may be another key.
  var hasMore: Bool { list != nil && left > 0 }

  /// Prepares the first key, until the slice is over.
  /// - Returns: whether it is ready.
  mutating func prepare() -> Bool {
    guard hasMore, positions == nil else { return true }
    if !descends {
      while skip > 0 {
        guard elements?.next() != nil else {
          left = 0
          return true
        }
        skip -= 1
        if Slice.isOver { return skip == 0 }
      }
      return true
    }
    while let element = elements?.next() {
      collected.append(element.position)
      if Slice.isOver { return false }
    }
    positions = collected.all.dropLast(skip)
    collected = GrowingList()
    return true
  }

  /// The next key; nil after the last.
  mutating func next() -> JSONNode? {
    guard hasMore else { return nil }
    left -= 1
    let key: JSONNode?
    if descends {
      key = positions?.popLast().flatMap { list?.value(at: $0) }
    } else {
      key = elements?.next()
    }
    if key == nil { left = 0 }
    return key
  }
}
