import Crypto
import Documents
import Hummingbird
import JSON

extension HTTPService {
  /// The web page: its documents have URLs that people see; all other files are below `/page`.
  ///
  /// Each view of the app has a URL, so that people can reload or share it. All of these URLs answer the same file.
  var pageRoutes: [Route] {
    let files = Dictionary(page.map { ($0.name, $0) }) { first, _ in first }
    @Sendable func answer(_ name: String, _ call: Call) throws(Problem) -> Response {
      guard let file = files[name] else { throw .notFound }
      return try file.answer(call)
    }
    let documents = Self.documents.map { template, name in
      Route.open(.get, template) { call in try answer(name, call) }
    }
    let shell = PageFile(name: "shell.json", bytes: PageShell(page).json)
    return documents + [
      .open(.get, "/page/{file}") { call in try answer(try call.parameter("file"), call) },
      .open(.get, "/offline/{file}") { call in
        try answer("offline/" + (try call.parameter("file")), call)
      },
      .open(.get, "/shell.json") { call in try shell.answer(call) },
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
    ("/offline.js", "offline.js"), ("/worker.js", "worker.js"),
  ]
}

/// The files that a service worker stores, so that the page opens without a network: all of one version.
struct PageShell: Sendable {
  /// The answer of `/shell.json`.
  let json: [UInt8]

  /// The version is a digest of all files, so it changes with each of them.
  init(_ files: [PageFile]) {
    var digest = SHA256()
    for file in files { digest.update(data: Array("\(file.name)\0\(file.tag)\0".utf8)) }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("version", Hex.string(Array(digest.finalize())[..<Self.versionBytes]))
    writer.name("files")
    writer.beginArray()
    writer.string("/")
    for file in files where !Self.isElsewhere(file.name) { writer.string(Self.path(of: file.name)) }
    writer.endArray()
    writer.endObject()
    json = writer.bytes
  }

  /// How many bytes of the digest the version has.
  private static let versionBytes = 16

  /// Whether the app does not need a file offline. The app itself is stored as `/`, a worker does not store itself, and
  /// the pages for developers and operators need the server.
  private static func isElsewhere(_ name: String) -> Bool {
    ["index.html", "worker.js"].contains(name) || name.hasPrefix("docs")
      || name.hasPrefix("admin")
  }

  private static func path(of name: String) -> String {
    name == "offline.js" || name.hasPrefix("offline/") ? "/" + name : "/page/" + name
  }
}
