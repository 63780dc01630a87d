import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import JSON
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
          writer.array("drafts", of: drafts) { draft, writer in Self.write(draft, to: &writer) }
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
      Route(
        .post, "/v1/lists/{listID}/bookmarks/{hotelID}/publish", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        try await publish(.bookmark(try call.hotelID()), call, person)
      },
      Route(
        .post, "/v1/lists/{listID}/notes/{title}/publish", access: .person, answer: .kept,
        completion: .always
      ) { call, person in
        try await publish(.note(try call.parameter("title")), call, person)
      },
    ]
  }

  /// The revision that the author of a draft has seen.
  private static func base(_ call: Call) throws -> ListDraft.Base {
    switch try call.query("draft", "base")["base"] {
    case nil: return .present
    case "none": return .seen(nil)
    case let text?:
      guard let revision = try? RevisionID(text) else {
        throw Problem(.badRequest, "invalid_parameter", "base must be a revision or none")
      }
      return .seen(revision)
    }
  }

  /// Saves a bookmark, or its removal, as a draft.
  func saveBookmark(
    _ call: Call, _ list: WrittenList, isRemoved: Bool
  ) async throws -> Response {
    let id = try call.hotelID()
    let (base, condition) = (try Self.base(call), try RevisionCondition(call))
    guard !isRemoved else {
      try await requireBookmark(id, list)
      _ = try await lists.save(
        .bookmark(id), nil, on: list.id, of: list.writer.id, base: base, condition: condition,
        as: call.writeContext)
      return .empty(.noContent)
    }
    let (additions, failure) = try await lookUp.find([try await call.hotelToPut(id)])
    guard let addition = additions.first else { throw Problem.notFound }
    try await list.store.requireStillAllowed()
    let body: DocumentBody
    do { body = try addition.bodyOfDraft() } catch {
      throw HotelLookUp.refusal(error, instead: failure)
    }
    let (draft, isNew) = try await lists.save(
      .bookmark(id), body, on: list.id, of: list.writer.id, base: base, condition: condition,
      as: call.writeContext)
    guard let bookmark = draft.bookmark(over: nil) else { throw Problem.notFound }
    return .json(
      bookmark.bytes, status: isNew ? .created : .ok,
      headers: .tagged(EntityTags.tag(bookmark.revision.description, of: list.writer.id.text)))
  }

  /// Saves a note, or its removal, as a draft.
  /// - Parameter markdown: the note's text; nil to remove the note.
  func saveNote(
    _ markdown: String?, _ call: Call, _ list: WrittenList
  ) async throws -> Response {
    let title = try call.parameter("title")
    let (base, condition) = (try Self.base(call), try RevisionCondition(call))
    if markdown == nil { _ = try await note(title, of: list.id, for: list.writer) }
    let content: JSONValue? = markdown.map { ["markdown": .string($0)] }
    let (draft, isNew) = try await lists.save(
      .note(title), try content.map { try DocumentBody($0) }, on: list.id, of: list.writer.id,
      base: base, condition: condition, as: call.writeContext)
    guard let note = draft.note(over: nil) else { return .empty(.noContent) }
    let fields = HTTPFields.tagged(
      EntityTags.tag(note.revision.description, of: list.writer.id.text))
    return .json(isNew ? .created : .ok, headers: fields) { $0.note(note) }
  }

  /// A list's note, with the person's own draft applied.
  /// - Throws: 404 if they see no note.
  func note(
    _ title: String, of list: AccountID, for person: Principal
  ) async throws -> ListNote {
    var note = try await lists.note(title, of: list)
    if let draft = try await lists.draft(.note(title), on: list, of: person.id) {
      note = draft.note(over: note)
    }
    guard let note else { throw Problem.notFound }
    return note
  }

  private func requireBookmark(
    _ id: HotelID, _ list: WrittenList
  ) async throws {
    let draft = try await lists.draft(.bookmark(id), on: list.id, of: list.writer.id)
    if let draft, draft.content != nil { return }
    guard draft == nil, try await hotels.bookmark(id, in: list.store.name) != nil else {
      throw Problem.notFound
    }
  }

  private func discard(
    _ subject: ListDraft.Subject, _ call: Call, _ person: Principal
  ) async throws -> Response {
    try await .written(as: WriteAnswer.noContent) { answer in
      try await lists.discard(
        subject, on: try await call.listID(for: person, in: lists), of: person.id,
        as: call.writeContext, answer: answer)
    }
  }

  private func publish(
    _ subject: ListDraft.Subject, _ call: Call, _ person: Principal
  ) async throws -> Response {
    let id = try await call.listID(for: person, in: lists)
    try await lists.requireWriter(person.id, of: id)
    switch try await lists.publish(
      subject, on: id, of: person.id, as: call.writeContext)
    {
    case .bookmark(let bookmark?):
      return .json(
        bookmark.bytes, headers: .tagged(bookmark.revision.description))
    case .note(let note?):
      return .json(headers: .tagged(note.revision.description)) {
        $0.note(note)
      }
    case .bookmark(nil), .note(nil): return .json { $0.member("deleted", true) }
    case .conflict(let base, let theirs, let mine):
      throw Self.conflict(base, theirs, mine)
    }
  }

  /// The 409 with all three texts, so that the author can merge them.
  private static func conflict(
    _ base: String?, _ theirs: ListNote?, _ mine: String?
  ) -> Problem {
    var problem = Problem(
      .conflict, "conflict",
      "Somebody has changed the same lines: save the draft anew, put together from these")
    problem.members = [
      "base": base.map { .string($0) } ?? .null,
      "theirs": theirs.map { .string($0.markdown) } ?? .null,
      "theirsRev": theirs.map { .string($0.revision.description) } ?? .null,
      "mine": mine.map { .string($0) } ?? .null,
    ]
    return problem
  }

  private static func write(_ draft: ListDraft, to writer: inout JSONWriter) {
    writer.beginObject()
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
    writer.endObject()
  }
}

extension Call {
  /// Whether a write is a draft, which only its author sees.
  func isDraft() throws -> Bool {
    switch try query("draft", "base")["draft"] {
    case nil, "false": return false
    case "true": return true
    default: throw Problem(.badRequest, "invalid_parameter", "draft must be true or false")
    }
  }
}
