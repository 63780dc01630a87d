import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Lists
import Stores

/// The caller's own drafts: unpublished changes of a list.
struct ListDraftController: Sendable {
  let lists: ListService
  let hotels: HotelService
  /// Adds the facts of new bookmarks.
  let lookUp: HotelLookUp

  var routes: [Route] {
    [
      Route(.get, "/v1/lists/{listID}/drafts", access: .person) { call, person in
        let id = try await call.listID(for: person, in: lists)
        let drafts = try await lists.drafts(on: id, of: person.id)
        return .json { writer in
          writer.objects("drafts", of: drafts) { Self.write($0, to: &$1) }
        }
      },
      Route(.delete, "/v1/lists/{listID}/bookmarks/{hotelID}/draft", access: .person, answer: .kept)
      { call, person in
        try await discard(.bookmark(try call.hotelID()), call, person)
      },
      Route(.delete, "/v1/lists/{listID}/notes/{title}/draft", access: .person, answer: .kept) {
        call, person in
        try await discard(.note(try call.parameter("title")), call, person)
      },
      .completed(.post, "/v1/lists/{listID}/bookmarks/{hotelID}/publish") { call, person in
        try await publish(.bookmark(try call.hotelID()), call, person)
      },
      .completed(.post, "/v1/lists/{listID}/notes/{title}/publish") { call, person in
        try await publish(.note(try call.parameter("title")), call, person)
      },
    ]
  }

  /// Saves a bookmark, or its removal, as a draft.
  func saveBookmark(_ call: Call, _ list: WrittenList, isRemoved: Bool) async throws -> Response {
    let id = try call.hotelID()
    let (base, condition) = (try call.base(), try RevisionCondition(call))
    guard !isRemoved else {
      try await requireBookmark(id, list)
      return try await save(.bookmark(id), nil, call, list, base, condition)
    }
    let hotel = try await call.hotelToPut(id)
    if !hotel.replaces, let (seen, base) = try await seen(id, list) {
      try await list.store.requireStillAllowed()
      return try await save(.bookmark(id), seen, call, list, base, condition)
    }
    let (additions, failure) = try await lookUp.find([hotel])
    guard let addition = additions.first else { throw Problem.notFound }
    try await list.store.requireStillAllowed()
    let body: DocumentBody
    do { body = try addition.bodyOfDraft() } catch {
      throw HotelLookUp.refusal(error, instead: failure)
    }
    return try await save(.bookmark(id), body, call, list, base, condition)
  }

  /// What a draft without facts says of a hotel that its author sees: the same as before. The upstream's facts would
  /// take away what people have written, and they reach the list's bookmark anyway.
  /// - Returns: the content and its base, whatever base the author gives; nil when there is neither a draft with content
  ///   nor a bookmark.
  private func seen(
    _ id: HotelID, _ list: WrittenList
  ) async throws -> (DocumentBody, ListDraft.Base)? {
    let own = try await lists.draft(.bookmark(id), on: list.id, of: list.writer.id)
    if let own, let content = own.content {
      return (try DocumentBody(parsing: content, limits: .stored), .seen(own.revision))
    }
    guard let published = try await hotels.bookmark(id, in: list.store.name) else { return nil }
    let body = try DocumentBody(parsing: published.hotel, limits: .stored).with([])
    return (body, .seen(published.revision))
  }

  private func save(
    _ subject: ListDraft.Subject, _ content: DocumentBody?, _ call: Call, _ list: WrittenList,
    _ base: ListDraft.Base, _ condition: RevisionCondition
  ) async throws -> Response {
    let author = list.writer.id
    return try await .written(as: { Self.answer($0.draft, isNew: $0.isNew, to: author) }) {
      answer in
      try await lists.save(
        subject, content, on: list.id, of: author, base: base, condition: condition,
        as: call.writeContext, answer: answer)
    }
  }

  private static func answer(_ draft: ListDraft, isNew: Bool, to author: AccountID) -> WriteAnswer {
    guard draft.content != nil else { return .noContent() }
    let status = isNew ? HTTPResponse.Status.created : .ok
    if let bookmark = draft.bookmark(over: nil) {
      let fields = HTTPFields.tagged(EntityTags.tag(bookmark, draftOf: author))
      return WriteAnswer(status, headers: fields, body: bookmark.bytes)
    }
    guard let note = draft.note(over: nil) else { return .noContent() }
    let fields = HTTPFields.tagged(EntityTags.tag(note, draftOf: author))
    return .json(status, headers: fields) { $0.note(note) }
  }

  /// Saves a note, or its removal, as a draft.
  /// - Parameter markdown: the note's text; nil to remove the note.
  func saveNote(_ markdown: String?, _ call: Call, _ list: WrittenList) async throws -> Response {
    let title = try call.parameter("title")
    let (base, condition) = (try call.base(), try RevisionCondition(call))
    if markdown == nil { _ = try await note(title, of: list.id, for: list.writer) }
    let content: JSONValue? = markdown.map { ["markdown": .string($0)] }
    return try await save(
      .note(title), try content.map { try DocumentBody($0) }, call, list, base, condition)
  }

  /// A list's note, with the person's own draft applied.
  /// - Throws: 404 if they see no note.
  func note(_ title: String, of list: AccountID, for person: Principal) async throws -> ListNote {
    var note = try await lists.note(title, of: list)
    if let draft = try await lists.draft(.note(title), on: list, of: person.id) {
      note = draft.note(over: note)
    }
    guard let note else { throw Problem.notFound }
    return note
  }

  private func requireBookmark(_ id: HotelID, _ list: WrittenList) async throws {
    let draft = try await lists.draft(.bookmark(id), on: list.id, of: list.writer.id)
    if let draft, draft.content != nil { return }
    guard draft == nil, try await hotels.bookmark(id, in: list.store.name) != nil else {
      throw Problem.notFound
    }
  }

  private func discard(
    _ subject: ListDraft.Subject, _ call: Call, _ person: Principal
  ) async throws -> Response {
    let condition = try RevisionCondition(call)
    return try await .written(as: WriteAnswer.noContent) { answer in
      try await lists.discard(
        subject, on: try await call.listID(for: person, in: lists), of: person.id,
        condition: condition, as: call.writeContext, answer: answer)
    }
  }

  private func publish(
    _ subject: ListDraft.Subject, _ call: Call, _ person: Principal
  ) async throws -> Response {
    let id = try await call.listID(for: person, in: lists)
    try await lists.requireWriter(person.id, of: id)
    return try await .written(as: Self.answer) { answer in
      try await lists.publish(subject, on: id, of: person.id, as: call.writeContext, answer: answer)
    }
  }

  @Sendable private static func answer(_ publication: Publication) -> WriteAnswer {
    switch publication {
    case .bookmark(let bookmark?):
      return WriteAnswer(.ok, headers: .tagged(bookmark.revision.description), body: bookmark.bytes)
    case .note(let note?):
      return .json(.ok, headers: .tagged(note.revision.description)) { $0.note(note) }
    case .bookmark(nil), .note(nil): return .json(.ok, headers: [:]) { $0.member("deleted", true) }
    }
  }

  private static func write(_ draft: ListDraft, to writer: inout JSONWriter) {
    switch draft.subject {
    case .bookmark(let id):
      writer.member("kind", "bookmark")
      writer.member("id", id.text)
    case .note(let title):
      writer.member("kind", "note")
      writer.member("title", title)
    }
    if let revision = draft.revision { writer.member("rev", revision.description) }
    if let base = draft.base { writer.member("base", base.description) }
    if draft.content == nil { writer.member("deleted", true) }
    writer.member("updatedAt", draft.updatedAt.rfc3339)
  }
}

extension Call {
  /// Whether a write is a draft, which only its author sees.
  func isDraft() throws -> Bool { try query("draft", "base").isSet("draft") }

  /// The revision that the author of a change has seen: the list's, or of a draft also the draft's.
  func base() throws -> ListDraft.Base {
    switch try query("draft", "base")["base"] {
    case nil: return .present
    case "none": return .seen(nil)
    case let text?:
      guard let revision = try? RevisionID(text) else {
        throw Problem.invalidParameter("base must be a revision or none")
      }
      return .seen(revision)
    }
  }
}

/// The entity tags of what the author of a draft sees. Its revision does not say what is of the list's document, which
/// others change.
extension EntityTags {
  fileprivate static func tag(
    _ state: RevisionID, _ author: AccountID, _ others: String
  ) -> String { tag(state.description, of: author.text + others) }

  static func tag(_ bookmark: Bookmark, draftOf author: AccountID) -> String {
    tag(bookmark.revision, author, String(decoding: bookmark.bytes, as: UTF8.self))
  }

  static func tag(_ note: ListNote, draftOf author: AccountID) -> String {
    tag(note.revision, author, note.createdAt.rfc3339)
  }
}
