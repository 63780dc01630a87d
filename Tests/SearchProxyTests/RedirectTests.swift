import Hotels
import SearchProxy
import Testing

/// The proxy never follows a redirect to another server.
@Suite struct RedirectTests {
  @Test(arguments: [301, 302, 307, 308])
  func redirectOnTheSameOriginIsFollowed(status: Int) async throws {
    let (seen, code) = try await search { request in
      guard request.target.hasPrefix("/api/") else { return .json(Golden.v2) }
      let host = request.fields["host"] ?? ""
      return .answer(status, ["location: HTTP://\(host)/there/?a=b#c"])
    }
    #expect(seen.map(\.target) == ["/api/hotels/pool/*/", "/there/?a=b"])
    #expect(seen.map(\.method) == ["GET", "GET"])
    #expect(code == nil)
  }

  @Test func redirectToAPathIsFollowed() async throws {
    let (seen, code) = try await search { request in
      request.target == "/there/%20/" ? .json(Golden.v2) : .answer(301, ["location: /there/%20/"])
    }
    #expect(seen.map(\.target) == ["/api/hotels/pool/*/", "/there/%20/"])
    #expect(code == nil)
  }

  @Test func secondRedirectIsABadAnswer() async throws {
    let (seen, code) = try await search { _ in .answer(308, ["location: /again"]) }
    #expect(seen.map(\.target) == ["/api/hotels/pool/*/", "/again"])
    #expect(code == .badAnswer)
  }

  @Test(
    .bug(id: "U05"),
    arguments: [
      "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "//169.254.169.254/",
      "http://127.0.0.1/", "https://HOST/", "http://HOST@evil.example/",
      "http://HOST.evil.example/",
      "http://evil.example@HOST/", "http://HOST\\@evil.example/", "gopher://HOST/", "there/", "",
      "http://[::1]/", "http://localhost:PORT/", "/a b", "\\\\evil.example\\x",
    ])
  func redirectElsewhereIsNotFollowed(location: String) async throws {
    let (seen, code) = try await search { request in
      let host = request.fields["host"] ?? ""
      let port = host.split(separator: ":").last ?? ""
      let target = location.replacing("HOST", with: host).replacing("PORT", with: port)
      return .answer(302, ["location: \(target)"])
    }
    #expect(seen.count == 1)
    #expect(code == .badAnswer)
  }

  @Test func redirectWithoutALocationIsABadAnswer() async throws {
    let (seen, code) = try await search { _ in .answer(301) }
    #expect(seen.count == 1)
    #expect(code == .badAnswer)
  }

  private func search(
    _ script: @escaping ScriptedServer.Script
  ) async throws -> ([SeenRequest], SearchError.Code?) {
    try await withUpstream(script: script) { upstream, server in
      do throws(SearchError) {
        _ = try await upstream.search(HotelQuery(description: "pool"))
        return (server.requests, nil)
      } catch {
        return (server.requests, error.code)
      }
    }
  }
}
