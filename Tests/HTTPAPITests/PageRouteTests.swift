import HTTPTypes
import JSON
import Testing

@testable import HTTPAPI

@Suite struct PageRouteTests {
  @Test func everyViewAnswersTheShellThatRunsNothingForeign() async throws {
    try await APIFixture.open { api in
      for path in [
        "/", "/?what=pool&where=Rome", "/hotels/a", "/bookmarks", "/bookmarks/a/history", "/lists",
        "/lists/a", "/lists/a/notes/b%20c", "/lists/a/members", "/lists/a/drafts",
        "/invitations/a", "/outbox", "/account", "/log-in", "/sign-up",
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

  @Test func whoHasItIsToldSo() async throws {
    try await APIFixture.open { api in
      let plain = try await api.call(.get, "/page/index.html")
      let tag = try #require(plain.headers[.eTag])
      #expect(tag.hasPrefix("\"") && tag.count == 34)
      let packed = try await api.call(
        .get, "/page/index.html", headers: [.acceptEncoding: "br, gzip"])
      let other = try #require(packed.headers[.eTag])
      #expect(packed.headers[.contentEncoding] == "gzip")
      #expect(other != tag)
      let same = try await api.call(
        .get, "/page/index.html", headers: [.ifNoneMatch: "\"x\", \(tag)"])
      #expect(same.status == 304 && same.bytes.isEmpty)
      let samePacked = try await api.call(
        .get, "/page/index.html", headers: [.ifNoneMatch: other, .acceptEncoding: "gzip"])
      #expect(samePacked.status == 304)
      let asked = try await api.call(.get, "/page/index.html", headers: [.ifNoneMatch: "\"x\""])
      #expect(asked.status == 200)
    }
  }

  @Test(arguments: [
    "/page/none", "/page/../index.html", "/page", "/index.html", "/bookmarks/a", "/lists/a/b",
    "/invitations", "/page/index.html/x", "/docs", "/offline/none", "/offline/../index.html",
  ])
  func whatIsNotThereIsAProblem(path: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.get, path)
      #expect([400, 404].contains(reply.status), "\(path)")
      #expect(reply.mediaType == "application/problem+json")
    }
  }

  @Test func aWorkerIsToldWhatToKeep() async throws {
    try await APIFixture.open { api in
      let shell = try await api.call(.get, "/shell.json")
      #expect(shell.headers[.contentType] == "application/json")
      #expect(shell.json["files"]?.array?.compactMap(\.string) == ["/"])
      #expect(shell["version"]?.utf8.count == 32)
    }
    let files = ["a.js", "worker.js", "docs.html", "offline.js", "offline/b.js", "admin-b.js"]
    func shell(_ last: String) -> PageShell {
      PageShell(files.map { PageFile(name: $0, bytes: [1]) } + [PageFile(name: last, bytes: [2])])
    }
    let text = String(decoding: shell("docs.js").json, as: UTF8.self)
    #expect(text.hasSuffix(#""files":["/","/page/a.js","/offline.js","/offline/b.js"]}"#))
    #expect(shell("docs.js").json != shell("docs.css").json)
  }

  @Test func pagesAreOnlyRead() async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.post, "/lists", body: "{}")
      #expect(reply.status == 405)
      #expect(try await api.call(.head, "/").bytes.isEmpty)
    }
  }
}
