import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct PageRouteTests {
  @Test func everyViewAnswersTheShellThatRunsNothingForeign() async throws {
    try await APIFixture.open { api in
      for path in [
        "/", "/?what=pool&where=Rome", "/hotels/a", "/bookmarks", "/bookmarks/a/history", "/lists",
        "/lists/a", "/lists/a/notes/b%20c", "/lists/a/members", "/lists/a/drafts",
        "/lists/a/history",
        "/invitations/a", "/outbox", "/account", "/log-in", "/sign-up", "/reset",
      ] {
        let page = try await api.call(.get, path)
        #expect(page.text == APIFixture.shell, "\(path)")
        #expect(page.headers[.contentType] == "text/html; charset=utf-8")
        let policy = page.headers[.contentSecurityPolicy] ?? ""
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"))
        #expect(!policy.contains("unsafe"))
        #expect(page.headers[.xContentTypeOptions] == "nosniff")
        #expect(page.headers[.referrerPolicy] == "same-origin")
        #expect(page.headers[.cacheControl] == "no-cache")
      }
    }
  }

  @Test func pageOfALinkIsFoundByNoSearchAndTellsNobodyItsURL() async throws {
    try await APIFixture.open { api in
      let page = try await api.call(.get, "/shared/a")
      #expect(
        page.text == "<p>a link</p>" && page.headers[.contentType] == "text/html; charset=utf-8")
      #expect(page.headers[.referrerPolicy] == "no-referrer")
      #expect(page.headers[.xRobotsTag] == "noindex")
      #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
      #expect(page.headers[.cacheControl] == "no-cache")
    }
  }

  @Test func whoHasItIsToldSo() async throws {
    try await APIFixture.open { api in
      let plain = try await api.call(.get, Self.path("index.html"))
      let tag = try #require(plain.headers[.eTag])
      #expect(tag.hasPrefix("\"") && tag.count == 34)
      let packed = try await api.call(
        .get, Self.path("index.html"), headers: [.acceptEncoding: "br, gzip"])
      let other = try #require(packed.headers[.eTag])
      #expect(packed.headers[.contentEncoding] == "gzip")
      #expect(other != tag)
      let known: HTTPFields = [.ifNoneMatch: "\"x\", \(tag)"]
      let same = try await api.call(.get, Self.path("index.html"), headers: known)
      #expect(same.status == 304 && same.bytes.isEmpty)
      let samePacked = try await api.call(
        .get, Self.path("index.html"), headers: [.ifNoneMatch: other, .acceptEncoding: "gzip"])
      #expect(samePacked.status == 304)
      let unknown: HTTPFields = [.ifNoneMatch: "\"x\""]
      let asked = try await api.call(.get, Self.path("index.html"), headers: unknown)
      #expect(asked.status == 200)
    }
  }

  static func path(_ name: String, _ version: String = APIFixture.page.version) -> String {
    "/page/\(version)/\(name)"
  }

  @Test(arguments: [
    "/page/none", "/page/../index.html", "/page", "/index.html", "/bookmarks/a", "/lists/a/b",
    "/invitations", "/page/index.html/x", "/admin", "/offline/none", "/page/a.js",
    PageRouteTests.path("none"), PageRouteTests.path("../index.html"),
    PageRouteTests.path("offline/none"), PageRouteTests.path("offline/../a.js"),
    PageRouteTests.path("worker.js"),
    PageRouteTests.path("a.js", "00112233445566778899aabbccddeeff"),
  ])
  func whatIsNotThereIsAProblem(path: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.get, path)
      #expect([400, 404].contains(reply.status), "\(path)")
      #expect(reply.mediaType == "application/problem+json")
    }
  }

  @Test(
    arguments: ["/you", "/you/", "/hotels", "/bookmarks/a", "/lists/a/b", "/page.html", "/v2/me"],
    ["text/html,application/xhtml+xml,*/*;q=0.8", "TEXT/HTML"])
  func aPersonIsShownThePageWhereNothingIs(path: String, accept: String) async throws {
    try await APIFixture.open { api in
      for packing in [HTTPFields(), [.acceptEncoding: "gzip"]] {
        let page = try await api.call(.get, path, headers: [.accept: accept] + packing)
        #expect(page.status == 404 && page.headers[.eTag] == nil)
        #expect(page.headers[.contentType] == "text/html; charset=utf-8")
        #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
        #expect(page.headers[.xContentTypeOptions] == "nosniff")
        if packing.isEmpty { #expect(page.text == APIFixture.shell) }
      }
    }
  }

  @Test(
    arguments: [
      (.get, "/you", "*/*"), (.get, "/you", "application/json"), (.post, "/you", "text/html"),
      (.get, "/v1/none", "text/html"), (.get, "/v1", "text/html"), (.get, "/page/a", "text/html"),
      (.get, "/couch/%20/a", "text/html"), (.get, "/api/none", "text/html"),
    ] as [(HTTPRequest.Method, String, String)])
  func aProgramIsToldWhereNothingIs(
    _ method: HTTPRequest.Method, _ path: String, _ accept: String
  ) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(method, path, headers: [.accept: accept])
      #expect(reply.status >= 400 && reply.mediaType != "text/html", "\(reply.text)")
    }
  }

  @Test func aWorkerIsToldWhatToKeep() async throws {
    try await APIFixture.open { api in
      let shell = try await api.call(.get, "/shell.json")
      #expect(shell.headers[.contentType] == "application/json")
      #expect(shell.headers[.cacheControl] == "no-cache")
      #expect(shell["version"] == APIFixture.page.version)
      #expect(shell["page"] == Self.path("index.html"))
      let files = try #require(shell.json["files"]?.array)
      #expect(
        files.compactMap { $0["path"]?.string }
          == ["index.html", "bundle.js"].map { Self.path($0) })
      for file in files {
        let reply = try await api.call(.get, try #require(file["path"]?.string))
        #expect(file["sha256"]?.string == PageFile(name: "any", bytes: reply.bytes).digest)
      }
    }
  }

  @Test func aFileOfAVersionNeverChangesAndIsKeptByBrowsers() async throws {
    try await APIFixture.open { api in
      for name in ["a.js", "offline/b.js", "index.html", "docs.js"] {
        let file = try await api.call(.get, Self.path(name))
        #expect(file.headers[.cacheControl] == "public, max-age=31536000, immutable", "\(name)")
      }
      // What has no version in its URL names one in its content.
      let docs = try await api.call(.get, "/docs")
      #expect(docs.text == "<script src=\"\(Self.path("docs.js"))\"></script>")
      let module = try await api.call(.get, "/offline.js")
      #expect(module.text.hasSuffix("\nexport * from \"\(Self.path("offline.js"))\"\n"))
      #expect(module.text.contains("/offline.d.ts"))
      let types = try await api.call(.get, "/offline.d.ts")
      #expect(
        types.text == "export {}\n" && types.headers[.contentType] == "text/plain; charset=utf-8")
      for reply in [docs, module, try await api.call(.get, "/worker.js")] {
        #expect(reply.headers[.cacheControl] == "no-cache")
      }
    }
  }

  @Test(
    arguments: [
      (nil, "en"), ("de", "de"), ("de-AT,en;q=0.8", "de"), ("en-GB, de;q=0.9", "en"), ("fr", "en"),
      ("fr,de;q=0.5,en;q=0.4", "de"), ("DE", "de"), ("de;q=0", "en"), ("ja", "en"),
      (";;q=,-", "en"),
      ("de;q=x,en", "en"), (String(repeating: "fr,", count: 100) + "de", "en"),
    ] as [(String?, String)])
  func theManifestIsInThePreferredLanguage(_ field: String?, _ language: String) async throws {
    try await APIFixture.open { api in
      var headers = HTTPFields()
      headers[.acceptLanguage] = field
      let reply = try await api.call(.get, Self.path("app.webmanifest"), headers: headers)
      #expect(reply["lang"] == language)
      #expect(reply.headers[.vary] == "Accept-Encoding, Accept-Language")
    }
  }

  @Test func theVersionChangesWithEachFile() {
    let files = [("a.js", [1]), ("worker.js", [2]), ("docs.html", [3])] as [(String, [UInt8])]
    func version(_ files: [(String, [UInt8])]) -> String {
      WebPage(files.map { (name: $0.0, bytes: $0.1) }).version
    }
    let first = version(files)
    #expect(first.utf8.count == 32 && first == version(files))
    for index in files.indices {
      var others = files
      others[index].1.append(9)
      #expect(version(others) != first)
      others[index] = (files[index].0 + "x", files[index].1)
      #expect(version(others) != first)
    }
  }

  @Test func pagesAreOnlyRead() async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.post, "/lists", body: "{}")
      #expect(reply.status == 405)
      #expect(try await api.call(.head, "/").bytes.isEmpty)
    }
  }
}
