import Documents
import HashTreeCollections
import Stores

/// Answers `_all_docs`, `_design_docs` and `_local_docs` in slices, each from one snapshot of the store.
struct AllDocumentsReader: AnswerReader {
  private let query: AllDocumentsQuery
  private let tag: StoreTag
  var text: AnswerText
  /// Counts all rows, when the store does not keep their number.
  private var all: RangeCount
  /// Counts the rows before the first row of the range.
  private var before: RangeCount
  /// Steps over the rows that `skip` leaves out.
  private var skipped: RangeCount
  /// Whether the part of the answer before the rows is written.
  private var isBegun = false
  /// The ids that are still to be read; nil for none.
  private var range: DocumentRange?
  /// The keys that are still to be looked up.
  private var keys: AskedKeys
  private var areKeysReady = false
  /// The ranges of written rows by document, for keys that name a document again.
  private var known = TreeDictionary<DocumentID, AnswerText.ValueRange>()
  /// How many local documents `skip` has left out.
  private var skippedLocals = 0
  private var rows = 0

  /// Makes a reader of the store with this tag.
  /// - Parameter text: the text to which the answer is appended.
  init(_ query: AllDocumentsQuery, of tag: StoreTag, behind text: AnswerText = AnswerText()) {
    self.query = query
    self.tag = tag
    self.text = text
    let walks = query.limit != 0 && query.keys == nil
    range = walks ? query.scope.part(of: query.range) : nil
    let isCounted = query.scope != .locals
    all = RangeCount(query.scope == .designs ? query.scope.part(of: DocumentRange()) : nil)
    before = RangeCount(isCounted ? query.scope.part(of: query.rangeBefore) : nil)
    skipped = RangeCount(isCounted ? range : nil, limit: query.skip)
    keys = AskedKeys(query)
  }

  mutating func release() { known = [:] }

  mutating func read(_ view: any StoreView) throws -> Bool {
    if !isBegun {
      guard try all.read(view), try before.read(view) else { return false }
      try begin(view)
      isBegun = true
    }
    if !areKeysReady {
      areKeysReady = keys.prepare(within: view.slice)
      guard areKeysReady else { return false }
    }
    if keys.hasMore { try look(view) }
    if range != nil { try walk(view) }
    guard range == nil, !keys.hasMore else { return false }
    text.writer.append([0x0A])
    text.writer.endArray()
    text.writer.endObject()
    return true
  }

  private mutating func begin(_ view: any StoreView) throws {
    let info = try view.info()
    let total = total(in: info)
    let offset = before.count.addingReportingOverflow(query.skip).partialValue
    // When `skip` leaves out all rows, nothing needs to be read.
    if let total, query.skip >= total { range = nil }
    text.writer.beginObject()
    let shown = query.keys == nil ? total.map { min($0, offset) } : nil
    for (name, count) in [("total_rows", total), ("offset", shown)] {
      text.writer.member(name, count.map { .number(JSONNumber($0)) } ?? .null)
    }
    if query.includesSequence {
      text.writer.member("update_seq", SinceToken.at(info.lastSequence, in: info, of: tag).text)
    }
    text.writer.name("rows")
    text.writer.beginArray()
  }

  /// The number of all rows of the scope; nil for local documents, which are not counted, as in CouchDB.
  private func total(in info: StoreInfo) -> Int? {
    switch query.scope {
    case .everything: Int(clamping: info.documentCount)
    case .designs: all.count
    case .locals: nil
    }
  }

  // Rows by key.

  private mutating func look(_ view: any StoreView) throws {
    while let key = keys.next() {
      let id = key.string.map(DocumentID.init(stored:))
      if let written = id.flatMap({ known[$0] }) {
        text.writer.beginLine()
        text.repeatValue(at: written)
      } else if query.scope.hasRow(for: key) {
        beginRow()
        let start = text.writer.bytes.count - 1
        let isFound = try append(key: key, view)
        text.writer.endObject()
        if isFound, let id { known[id] = text.range(from: start) }
      }
      text.flush()
      if pauses(view) { return }
    }
  }

  /// Writes the members of a row for a key.
  /// - Returns: whether there is such a document.
  private mutating func append(key: JSONNode, _ view: any StoreView) throws -> Bool {
    // As in CouchDB, `_all_docs` finds local documents by their keys, but lists none.
    if let name = key.string {
      if let id = try? LocalID(client: name) {
        if let document = try view.local(id) {
          append(id, document)
          return true
        }
      } else if let document = try view.document(DocumentID(stored: name)) {
        try append(document, view)
        return true
      }
    }
    text.writer.name("key")
    if let name = key.string { text.writer.string(name) } else { text.writer.raw(key.minified) }
    text.writer.member("error", "not_found")
    return false
  }

  // Rows of a range.

  private mutating func walk(_ view: any StoreView) throws {
    if query.scope == .locals { return try walkLocals(view) }
    if skipped.count < query.skip {
      guard try skipped.read(view) else { return }
      range = skipped.rest
    }
    guard let walked = range else { return }
    var rest: DocumentRange?
    try view.documents(walked) { document in
      beginRow()
      try append(document, view)
      guard goesOn() else { return false }
      guard pauses(view) else { return true }
      rest = walked.behind(document.id.text)
      return false
    }
    range = rest
  }

  private mutating func walkLocals(_ view: any StoreView) throws {
    guard let walked = range else { return }
    var rest: DocumentRange?
    try view.locals(walked) { id, document in
      if skippedLocals < query.skip {
        skippedLocals += 1
      } else {
        beginRow()
        append(id, document)
        guard goesOn() else { return false }
      }
      guard pauses(view) else { return true }
      rest = walked.behind(id.text)
      return false
    }
    range = rest
  }

  /// Begins a row on a line of its own, as in CouchDB: scripts that make a backup with `sed` read line by line.
  private mutating func beginRow() {
    text.writer.beginLine()
    text.writer.beginObject()
  }

  /// Ends a row of a range.
  /// - Returns: whether another row may follow.
  private mutating func goesOn() -> Bool {
    text.writer.endObject()
    text.flush()
    rows += 1
    return rows != query.limit
  }

  /// Writes the members of a row.
  private mutating func append(_ document: Document, _ view: any StoreView) throws {
    text.writer.member("id", document.id.text)
    text.writer.member("key", document.id.text)
    text.writer.name("value")
    text.writer.beginObject()
    text.writer.name("rev")
    text.writer.revision(document.revision)
    if document.isDeleted { text.writer.member("deleted", true) }
    text.writer.endObject()
    guard query.includesDocuments else { return }
    text.writer.name("doc")
    if document.isDeleted {
      text.writer.null()
    } else {
      try DocumentReader(document, in: view, extras: query.extras)
        .appendWinner(to: &text.writer, in: view)
    }
  }

  private mutating func append(_ id: LocalID, _ document: LocalDocument) {
    text.writer.member("id", id.text)
    text.writer.member("key", id.text)
    text.writer.name("value")
    text.writer.beginObject()
    text.writer.member("rev", LocalRevision.text(document.revision))
    text.writer.endObject()
    guard query.includesDocuments else { return }
    text.writer.name("doc")
    document.append(as: id, to: &text.writer)
  }
}

/// Answers several queries of `_all_docs` one after the other, in slices.
struct AllDocumentsListReader: AnswerReader {
  private let tag: StoreTag
  private var queries: ArraySlice<AllDocumentsQuery>
  /// The reader of the present query, with all text that was written before.
  private var current: AllDocumentsReader?
  /// The text so far while no query is being answered.
  private var written = AnswerText()

  init(_ queries: [AllDocumentsQuery], of tag: StoreTag) {
    self.tag = tag
    self.queries = queries[...]
    written.writer.beginObject()
    written.writer.name("results")
    written.writer.beginArray()
  }

  mutating func release() { current?.release() }

  var text: AnswerText {
    get { current?.text ?? written }
    set { if current == nil { written = newValue } else { current?.text = newValue } }
  }

  mutating func read(_ view: any StoreView) throws -> Bool {
    while true {
      if current == nil {
        guard let query = queries.popFirst() else { break }
        current = AllDocumentsReader(query, of: tag, behind: written)
        // Only one variable holds the text, so that it is not copied when it grows.
        written = AnswerText()
      }
      guard try current?.read(view) ?? true else { return false }
      written = text
      current = nil
      if pauses(view), !queries.isEmpty { return false }
    }
    written.writer.endArray()
    written.writer.endObject()
    return true
  }
}

extension CouchDatabase {
  /// `GET` and `POST /{db}/_all_docs`, `_design_docs` and `_local_docs`: documents by id, or rows for given keys.
  ///
  /// Source: CouchDB, "GET /{db}/_all_docs", "GET /{db}/_local_docs".
  /// - Throws: 503 when there is no memory for a part of the answer.
  package func allDocuments(_ query: AllDocumentsQuery) async throws -> CouchAnswer {
    try await answer(by: AllDocumentsReader(query, of: tag))
  }

  /// `POST /{db}/_all_docs/queries`: several queries, answered one after the other.
  ///
  /// Source: CouchDB, "POST /{db}/_all_docs/queries".
  /// - Throws: the same errors as for one query, for all answers together.
  package func allDocuments(_ queries: [AllDocumentsQuery]) async throws -> CouchAnswer {
    try await answer(by: AllDocumentsListReader(queries, of: tag))
  }
}
