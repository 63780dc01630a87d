import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Lists
import Stores

/// Links that show a list without an account: the owner makes and withdraws them, and anybody reads by them.
struct ListLinkController: Sendable {
  let lists: ListService
  let address: ServerAddress

  var routes: [Route] {
    [
      Route(.get, "/v1/lists/{listID}/links", access: .person, answer: .uncached) { call, person in
        let id = try await call.listID(for: person, in: lists)
        let links = try await lists.links(to: id, for: person.id)
        return .json { writer in
          writer.objects("links", of: links) { Self.write($0, to: &$1) }
        }
      },
      .completed(.post, "/v1/lists/{listID}/links", answer: .secret, run: make),
      .completed(.delete, "/v1/lists/{listID}/links/{linkID}") { call, person in
        let id = try await call.listID(for: person, in: lists)
        guard let link = AccountID(try call.parameter("linkID")) else { throw Problem.notFound }
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.withdrawLink(
            link, to: id, by: person.id, as: call.writeContext, answer: answer)
        }
      },
      Route(.get, "/v1/links/{secret}", access: .open, answer: .uncached) { call, _ in
        try await read(call)
      },
    ]
  }

  private func make(_ call: Call, _ person: Principal) async throws -> Response {
    let id = try await call.listID(for: person, in: lists)
    let url = address.url(for: call)
    let answer = { @Sendable (issued: IssuedLink) in
      let path = "/v1/lists/\(id.text)/links/\(issued.link.id.text)"
      return WriteAnswer.json(.created, headers: [.location: path]) { writer in
        Self.write(issued.link, to: &writer)
        writer.member("secret", issued.secret)
        writer.member("url", url + "/shared/" + issued.secret)
      }
    }
    return try await .written(as: answer) { answer in
      try await lists.makeLink(to: id, by: person.id, as: call.writeContext, answer: answer)
    }
  }

  private func read(_ call: Call) async throws -> Response {
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...ListLimits.linkPage, default: ListLimits.linkPage)
    let after = try query.text("after", maximumBytes: ShownList.Position.maximumBytes)
    let start = after.flatMap(ShownList.Position.init)
    if after != nil, start == nil { throw Problem.invalidNext }
    let shown = try await lists.list(
      shownBy: try call.parameter("secret"), from: start, limit: limit)
    return try await .packed(
      JSONWriter.object { Self.write(shown, to: &$0) },
      headers: [.xRobotsTag: "noindex", .referrerPolicy: "no-referrer"], for: call)
  }

  private static func write(_ link: ListLink, to writer: inout JSONWriter) {
    writer.member("id", link.id.text)
    writer.member("createdAt", link.createdAt.rfc3339)
  }

  private static func write(_ shown: ShownList, to writer: inout JSONWriter) {
    writer.member("title", shown.title)
    writer.member("markdown", shown.markdown)
    writer.days(shown.dates)
    writer.member("updatedAt", shown.updatedAt.rfc3339)
    writer.array("hotels", of: shown.hotels) { $1.value($0.hotel) }
    writer.objects("notes", of: shown.notes) { note, writer in
      writer.member("title", note.title)
      writer.member("markdown", note.markdown)
      writer.member("updatedAt", note.updatedAt.rfc3339)
    }
    if let next = shown.next { writer.member("next", next.description) }
  }
}
