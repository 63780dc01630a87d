import Hummingbird

extension HTTPService {
  /// The web page: its documents have URLs that people see; all other files are below `/page/<version>`.
  ///
  /// Each view of the app has a URL, so that people can reload or share it. All of these URLs answer the same file.
  var pageRoutes: [Route] {
    let documents = Self.documents.map { template, name in
      Route(.get, template, access: .open, cost: .free) { call, _ in
        try page.document(name).answer(call)
      }
    }
    return documents + [
      Route(.get, "/page/{version}/{file}", access: .open, cost: .free) { call, _ in
        let version = try call.parameter("version")
        return try page.file(try call.parameter("file"), of: version).answer(call)
      },
      Route(.get, "/page/{version}/offline/{file}", access: .open, cost: .free) { call, _ in
        let version = try call.parameter("version")
        let name = "offline/" + (try call.parameter("file"))
        return try page.file(name, of: version).answer(call)
      },
    ]
  }

  /// The paths outside of `/page`, and the file of each.
  private static let documents = [
    ("/", "index.html"), ("/hotels/{id}", "index.html"), ("/bookmarks", "index.html"),
    ("/bookmarks/{hotelID}/history", "index.html"), ("/lists", "index.html"),
    ("/lists/{id}", "index.html"), ("/lists/{id}/notes/{title}", "index.html"),
    ("/lists/{id}/members", "index.html"), ("/lists/{id}/drafts", "index.html"),
    ("/invitations/{token}", "index.html"), ("/outbox", "index.html"),
    ("/account", "index.html"), ("/log-in", "index.html"), ("/sign-up", "index.html"),
    ("/docs", "docs.html"), ("/admin", "admin.html"),
    ("/offline.js", WebPage.module), ("/worker.js", WebPage.worker),
    ("/shell.json", WebPage.shell),
  ]
}
