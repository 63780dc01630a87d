import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import JSON
import Lanes
import Lists
import Stores

/// The content of a list: bookmarks, as below `/v1/bookmarks`, and notes.
extension HTTPService {
  /// `…/bookmarks…` and `…/notes…`.
  var listContentRoutes: [Route] {
    [
      readingList("/bookmarks") { call, list, person in
        try await listBookmarks(call, of: list, for: person)
      },
      writingList(.post, "/bookmarks") { call, list in
        try await changeBookmarks(call, in: list.store)
      },
      readingList("/bookmarks/{hotelID}") { call, list, person in
        try await readBookmark(call, of: list, for: person)
      },
      writingList(.put, "/bookmarks/{hotelID}") { call, list in
        guard try isDraft(call) else { return try await putBookmark(call, in: list.store) }
        return try await saveBookmark(call, list, of: list.writer, isRemoved: false)
      },
      writingList(.delete, "/bookmarks/{hotelID}") { call, list in
        guard try isDraft(call) else { return try await deleteBookmark(call, in: list.store) }
        return try await saveBookmark(call, list, of: list.writer, isRemoved: true)
      },
      readingList("/mirror") { call, list, _ in
        try await mirror(call, of: .list(list))
      },
      readingList("/documents/{documentID}/revisions") { call, list, _ in
        try await listRevisions(call, in: .list(list)) { authors in
          try await lists.names(of: authors, on: list)
        }
      },
      readingList("/documents/{documentID}/revisions/{rev}") { call, list, _ in
        try await readRevision(call, in: .list(list))
      },
      writingList(.post, "/documents/{documentID}/restore") { call, list in
        let answer = try await restoreRevision(call, in: list.store)
        // An earlier revision of the list's own document has the members of that time. They are replaced even if the
        // client has gone.
        let lists = lists
        try await Task(executorPreference: WorkExecutor.detached) {
          try await WriteReceipt.aside { try await lists.show(list.id) }
        }.value
        return answer
      },
      readingList("/notes") { call, list, person in
        try await listNotes(call, list, person)
      },
      readingList("/notes/{title}") { call, list, person in
        try await readNote(call, list, person)
      },
      writingList(.put, "/notes/{title}") { call, list in try await putNote(call, list) },
      writingList(.delete, "/notes/{title}") { call, list in
        if try isDraft(call) { return try await saveNote(nil, call, list, of: list.writer) }
        return try await .noContent(in: .list(list.id)) {
          try await lists.removeNote(
            try call.parameter("title"), of: list.id, condition: try RevisionCondition(call))
        }
      },
    ] + draftRoutes
  }

  /// A list that a request writes to, and the writer.
  struct WrittenList: Sendable {
    let id: AccountID
    let writer: Principal
    let store: WrittenStore
  }

  /// A read route below a list, for its members.
  private func readingList(
    _ path: String,
    _ run: @escaping @Sendable (Call, AccountID, Principal) async throws -> Response
  ) -> Route {
    Route(.get, "/v1/lists/{listID}" + path, access: .person) { call, person in
      try await run(call, try await listID(call, person), person)
    }
  }

  /// A write route below a list, for its owner and editors.
  private func writingList(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, WrittenList) async throws -> Response
  ) -> Route {
    Route(method, "/v1/lists/{listID}" + path, access: .person, answer: .kept) { call, person in
      let id = try await listID(call, person)
      try await lists.requireWriter(person.id, of: id)
      let store = WrittenStore(.list(id), path: "/v1/lists/" + id.text) {
        try await lists.requireWriter(person.id, of: id)
      }
      return try await run(call, WrittenList(id: id, writer: person, store: store))
    }
  }

  private func listNotes(
    _ call: Call, _ list: AccountID, _ person: Principal
  ) async throws -> Response {
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...ListLimits.page, default: 20)
    let after = try query.text("after", maximumBytes: ListLimits.titleBytes)
    let page = try await lists.notes(of: list, after: after, limit: limit, for: person.id)
    var writer = JSONWriter()
    writer.beginObject()
    writer.array("notes", of: page.notes) { note, writer in
      writer.beginObject()
      Self.write(note, to: &writer)
      writer.endObject()
    }
    if let next = page.next { writer.member("next", next) }
    writer.endObject()
    return try await .packed(writer.bytes, headers: [:], for: call)
  }

  private func readNote(
    _ call: Call, _ list: AccountID, _ person: Principal
  ) async throws -> Response {
    let note = try await note(try call.parameter("title"), of: list, for: person)
    let revision = note.revision.description
    let tag = note.isDraft ? EntityTags.tag(revision, of: person.id.text) : revision
    let fields = HTTPFields.tagged(tag)
    if let known = try EntityTags(call, .ifNoneMatch, strong: false), known.matches(tag) {
      return .empty(.notModified, headers: fields)
    }
    return .json(headers: fields) { Self.write(note, to: &$0) }
  }

  private func putNote(_ call: Call, _ list: WrittenList) async throws -> Response {
    let title = try call.parameter("title")
    let condition = try RevisionCondition(call)
    let isDraft = try isDraft(call)
    let body = try ListBody(try await call.json(.document), known: ["markdown"])
    guard let markdown = try body.text("markdown") else {
      throw Problem(.badRequest, "bad_request", "The body needs markdown, a string")
    }
    try await list.store.requireStillAllowed()
    if isDraft { return try await saveNote(markdown, call, list, of: list.writer) }
    let (note, isNew) = try await lists.putNote(title, markdown, on: list.id, condition: condition)
    var fields = HTTPFields.tagged(note.revision.description)
    if isNew { fields[.location] = list.store.path + "/notes/" + title.urlSegment }
    return .json(isNew ? .created : .ok, headers: fields) { Self.write(note, to: &$0) }
  }

  static func write(_ note: ListNote, to writer: inout JSONWriter) {
    writer.member("title", note.title)
    writer.member("rev", note.revision.description)
    if note.isDraft { writer.member("draft", true) }
    writer.member("markdown", note.markdown)
    writer.member("createdAt", note.createdAt.rfc3339)
    writer.member("updatedAt", note.updatedAt.rfc3339)
  }
}
