import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Lists
import Scheduling
import Stores

/// The content of a list: bookmarks, as below `/v1/bookmarks`, and notes.
struct ListContentController: Sendable {
  let lists: ListService
  let hotels: HotelService
  let bookmarks: BookmarkController
  let mirrors: MirrorController
  let histories: HistoryController
  let drafts: ListDraftController
  let photos: PhotoController

  var routes: [Route] {
    [
      read("/bookmarks", listBookmarks),
      write(.post, "/bookmarks") { call, list in
        try await bookmarks.change(call, in: list.store)
      },
      read("/bookmarks/{hotelID}", readBookmark),
      write(.put, "/bookmarks/{hotelID}") { call, list in
        guard try call.isDraft() else { return try await bookmarks.put(call, in: list.store) }
        return try await drafts.saveBookmark(call, list, isRemoved: false)
      },
      write(.delete, "/bookmarks/{hotelID}") { call, list in
        guard try call.isDraft() else { return try await bookmarks.delete(call, in: list.store) }
        return try await drafts.saveBookmark(call, list, isRemoved: true)
      },
      Route(.get, "/v1/lists/{listID}/bookmarks/{hotelID}/photos/{name}", access: .person) {
        call, person in
        let id = try await call.listID(for: person, in: lists)
        return try await photos.read(
          call, in: try await photos.databases.list(id, for: person, as: call.writeContext))
      },
      write(.put, "/bookmarks/{hotelID}/photos/{name}") { call, list in
        try await photos.put(call, in: list.store)
      },
      write(.delete, "/bookmarks/{hotelID}/photos/{name}") { call, list in
        try await photos.delete(call, in: list.store)
      },
      read("/mirror") { call, list, person in
        try await mirrors.mirror(
          call,
          of: try await mirrors.databases.list(list, for: person, as: call.writeContext))
      },
      read("/documents/{documentID}/revisions") { call, list, _ in
        try await histories.list(call, in: .list(list)) { authors in
          try await lists.directory.names(of: authors, on: list)
        }
      },
      read("/documents/{documentID}/revisions/{rev}") { call, list, _ in
        try await histories.read(call, in: .list(list))
      },
      write(.post, "/documents/{documentID}/restore") { call, list in
        let answer = try await histories.restore(call, in: list.store)
        // An earlier revision of the list's own document has the members of that time. They are replaced even if the
        // client has gone.
        let lists = lists
        try await Work.waiting({
          try await Work.shared { try await lists.show(list.id) }.value
        })
        return answer
      },
      read("/history") { call, list, _ in try await history(call, of: list) },
      read("/notes", listNotes),
      read("/notes/{title}", readNote),
      write(.put, "/notes/{title}", putNote),
      write(.delete, "/notes/{title}", deleteNote),
    ]
  }

  /// A read route below a list, for its members.
  private func read(
    _ path: String,
    _ run: @escaping @Sendable (Call, AccountID, Principal) async throws -> Response
  ) -> Route {
    Route(.get, "/v1/lists/{listID}" + path, access: .person) { call, person in
      try await run(call, try await call.listID(for: person, in: lists), person)
    }
  }

  /// A write route below a list, for its owner and editors.
  private func write(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, WrittenList) async throws -> Response
  ) -> Route {
    Route(method, "/v1/lists/{listID}" + path, access: .person, answer: .kept) { call, person in
      let id = try await call.listID(for: person, in: lists)
      try await lists.requireWriter(person.id, of: id)
      let store = WrittenStore(name: .list(id), path: "/v1/lists/" + id.text) {
        try await lists.requireWriter(person.id, of: id)
      }
      return try await run(call, WrittenList(id: id, writer: person, store: store))
    }
  }

  /// Answers who changed what last. Only present members have names.
  private func history(_ call: Call, of list: AccountID) async throws -> Response {
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...ListLimits.page, default: 20)
    let start = try query.int("after", in: 1...Int.max, default: 0)
    let page = try await lists.history(
      of: list, from: start == 0 ? nil : Int64(start), limit: limit)
    let names = try await lists.directory.names(
      of: Set(page.events.compactMap { $0.arrival?.author.user }), on: list)
    return .json { writer in
      writer.objects("changes", of: page.events) { event, writer in
        writer.member("kind", event.subject.rawValue)
        writer.member("id", event.document.text)
        writer.member("name", event.name)
        writer.member("rev", event.revision.description)
        writer.member("deleted", event.isDeleted)
        if let arrival = event.arrival {
          writer.member("time", arrival.time.rfc3339)
          writer.object("by") { arrival.author.write(to: &$0, names) }
        }
        if let former = event.former { writer.member("former", former.description) }
      }
      if let next = page.next { writer.member("next", Int(next)) }
    }
  }

  private func listNotes(
    _ call: Call, _ list: AccountID, _ person: Principal
  ) async throws -> Response {
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...ListLimits.page, default: 20)
    let after = try query.text("after", maximumBytes: ListLimits.titleBytes)
    let page = try await lists.notes(of: list, after: after, limit: limit, for: person.id)
    let bytes = JSONWriter.object { writer in
      writer.objects("notes", of: page.notes) { $1.note($0) }
      if let next = page.next { writer.member("next", next) }
    }
    return try await .packed(bytes, headers: [:], for: call)
  }

  private func readNote(
    _ call: Call, _ list: AccountID, _ person: Principal
  ) async throws -> Response {
    let note = try await drafts.note(try call.parameter("title"), of: list, for: person)
    let tag = note.isDraft ? EntityTags.tag(note, draftOf: person.id) : note.revision.description
    let fields = HTTPFields.tagged(tag)
    if let answer = try call.notModified(tag, fields) { return answer }
    return .json(headers: fields) { $0.note(note) }
  }

  private func putNote(_ call: Call, _ list: WrittenList) async throws -> Response {
    let title = try call.parameter("title")
    let condition = try RevisionCondition(call)
    let (isDraft, base) = (try call.isDraft(), try call.base())
    let body = try ListBody(try await call.json(.document), known: ["markdown"])
    guard let markdown = try body.text("markdown") else {
      throw Problem.badRequest("The body needs markdown, a string")
    }
    try await list.store.requireStillAllowed()
    if isDraft { return try await drafts.saveNote(markdown, call, list) }
    let answer = { @Sendable (written: (note: ListNote, isNew: Bool)) in
      let (note, isNew) = written
      var fields = HTTPFields.tagged(note.revision.description)
      if isNew { fields[.location] = list.store.path + "/notes/" + title.urlSegment }
      return WriteAnswer.json(isNew ? .created : .ok, headers: fields) { $0.note(note) }
    }
    return try await .written(as: answer) { answer in
      try await lists.putNote(
        title, markdown, from: base, on: list.id, condition: condition, as: call.writeContext,
        answer: answer)
    }
  }

  private func deleteNote(_ call: Call, _ list: WrittenList) async throws -> Response {
    let title = try call.parameter("title")
    let (base, condition) = (try call.base(), try RevisionCondition(call))
    if try call.isDraft() { return try await drafts.saveNote(nil, call, list) }
    return try await .written(as: WriteAnswer.noContent) { answer in
      try await lists.removeNote(
        title, from: base, of: list.id, condition: condition, as: call.writeContext,
        answer: answer)
    }
  }

  /// Answers a list's bookmarks with the person's own drafts applied, and with who added each bookmark.
  private func listBookmarks(
    _ call: Call, of list: AccountID, for person: Principal
  ) async throws -> Response {
    let (limit, after) = try call.bookmarkPage()
    let drafts = try await lists.drafts(on: list, of: person.id)
    let bookmarks = drafts.compactMap { draft -> (id: HotelID, draft: ListDraft)? in
      guard case .bookmark(let id) = draft.subject else { return nil }
      return (id, draft)
    }
    var page = try await hotels.bookmarks(in: .list(list), limit: limit, after: after)
    if !bookmarks.isEmpty {
      let known = try await hotels.bookmarked(among: bookmarks.map(\.id), in: .list(list))
      let revisions = bookmarks.map { $0.draft.revision?.description ?? "" }.joined()
      page = page.with(
        drafts: bookmarks.map { ($0.id, $0.draft.bookmark(over:)) },
        mark: Hex.digest(of: person.id.text + revisions, digits: 16), isFirst: after == nil,
        isBookmarked: { known.contains($0) })
    }
    var fields = HTTPFields.tagged(page.tag)
    fields[.vary] = "Accept-Encoding"
    if let answer = try call.notModified(page.tag, fields) { return answer }
    let names = try await adders(of: page.bookmarks.map(\.id), on: list)
    return try await .packed(page.added { names[$0] }.bytes, headers: .tagged(page.tag), for: call)
  }

  /// Answers one bookmark of a list with the person's own draft applied.
  private func readBookmark(
    _ call: Call, of list: AccountID, for person: Principal
  ) async throws -> Response {
    let id = try call.hotelID()
    var bookmark = try await hotels.bookmark(id, in: .list(list))
    if let draft = try await lists.draft(.bookmark(id), on: list, of: person.id) {
      bookmark = draft.bookmark(over: bookmark)
    }
    guard var bookmark else { throw Problem.notFound }
    bookmark.addedBy = try await adders(of: [id], on: list)[id]
    let revision = bookmark.revision.description
    // The revision stays when who added the bookmark leaves the list, and is no longer named.
    let tag =
      bookmark.isDraft
      ? EntityTags.tag(bookmark, draftOf: person.id)
      : bookmark.addedBy.map { EntityTags.tag(revision, of: $0) } ?? revision
    if let answer = try call.notModified(tag, .tagged(tag)) { return answer }
    return .json(bookmark.bytes, headers: .tagged(tag))
  }

  /// The names of those who added the bookmarks, as far as they are still members of the list.
  private func adders(of ids: [HotelID], on list: AccountID) async throws -> [HotelID: String] {
    let authors = try await hotels.adders(of: ids, in: .list(list))
    let users = authors.values.compactMap(\.user)
    let names = try await lists.directory.names(of: users, on: list)
    return authors.compactMapValues { author in
      author.user.flatMap { names[$0]?.username }
    }
  }
}

extension JSONWriter {
  /// Writes the members of a note's object.
  mutating func note(_ note: ListNote) {
    member("title", note.title)
    member("rev", note.revision.description)
    if note.isDraft { member("draft", true) }
    member("markdown", note.markdown)
    member("createdAt", note.createdAt.rfc3339)
    member("updatedAt", note.updatedAt.rfc3339)
  }
}
