import Hummingbird
import Scheduling

/// The web page: its documents have URLs that people see; all other files are below `/page/<version>`.
///
/// Each view of the app has a URL, so that people can reload or share it. All of these URLs answer the same file.
struct PageController: Sendable {
  /// Returns the files. The first call takes some 50 ms.
  let page: @Sendable () async -> WebPage

  var routes: [Route] {
    Self.documents.map { template, name in
      get(template) { _, page in try page.document(name) }
    } + [
      Route(.get, "/shared/{secret}", access: .open, cost: .free) { call, _ in
        var answer = try await files().document("shared.html").answer(call)
        answer.headers[.referrerPolicy] = "no-referrer"
        answer.headers[.xRobotsTag] = "noindex"
        return answer
      },
      get("/page/{version}/{file}") { call, page in
        try page.file(
          try call.parameter("file"), of: try call.parameter("version"),
          languages: call[.acceptLanguage])
      },
      get("/page/{version}/offline/{file}") { call, page in
        let name = "offline/" + (try call.parameter("file"))
        return try page.file(name, of: try call.parameter("version"))
      },
    ]
  }

  /// The answer for a person whose browser goes to a path without a route: the app, which says in their language that there
  /// is no such page. Nil for programs, and below the paths that programs use.
  func absence(_ call: Call) async -> Response? {
    let first = call.request.uri.path.utf8.split(separator: UInt8(ascii: "/")).first
    guard call.request.method == .get, call.dialect == .problem,
      call[.accept]?.lowercased().contains("text/html") ?? false,
      let first, !Self.ofPrograms.contains(where: { first.elementsEqual($0.utf8) })
    else { return nil }
    return try? await files().document("index.html").absence(call)
  }

  /// The first segments of paths that no person types.
  private static let ofPrograms = ["api", "couch", "page", "v1"]

  private func get(
    _ template: String, _ file: @escaping @Sendable (Call, WebPage) throws -> PageFile
  ) -> Route {
    Route(.get, template, access: .open, cost: .free) { call, _ in
      try file(call, await files()).answer(call)
    }
  }

  /// The files, waited for without a seat.
  private func files() async -> WebPage { await Work.waiting { await page() } }

  /// The paths outside of `/page`, and the file of each.
  private static let documents = [
    ("/", "index.html"), ("/hotels/{id}", "index.html"), ("/bookmarks", "index.html"),
    ("/bookmarks/{hotelID}/history", "index.html"), ("/lists", "index.html"),
    ("/lists/{id}", "index.html"), ("/lists/{id}/notes/{title}", "index.html"),
    ("/lists/{id}/members", "index.html"), ("/lists/{id}/drafts", "index.html"),
    ("/lists/{id}/history", "index.html"),
    ("/invitations/{token}", "index.html"), ("/outbox", "index.html"),
    ("/account", "index.html"), ("/log-in", "index.html"), ("/sign-up", "index.html"),
    ("/reset", "index.html"),
    ("/docs", "docs.html"), ("/admin", "admin.html"),
    ("/offline.js", WebPage.module), ("/offline.d.ts", WebPage.types),
    ("/worker.js", WebPage.worker),
    ("/shell.json", WebPage.shell),
  ]
}
