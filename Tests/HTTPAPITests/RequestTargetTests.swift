import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct RequestTargetTests {
  @Test(arguments: [
    ("abc", "abc"), ("", ""), ("a%2Fb", "a/b"), ("%252f", "%2f"), ("%25252f", "%252f"),
    ("a+b", "a+b"), ("a%2Bb", "a+b"), ("%F0%9F%8F%A8", "\u{1F3E8}"), ("%c3%a9", "\u{E9}"),
    ("%0D%0A", "\r\n"), ("%2E%2E", ".."), ("e%CC%81", "e\u{301}"),
  ])
  func segmentIsDecodedOnce(encoded: String, text: String) throws {
    let decoded = try RequestTarget.decode(encoded.utf8, what: "The path")
    #expect(Array(decoded.utf8) == Array(text.utf8))
  }

  @Test(arguments: [
    "%", "%f", "%zz", "%0g", "a%", "%%41", "%00", "a%00b", "%ff", "%C3", "%ED%A0%80", "%C0%AF",
  ])
  func segmentThatCannotBeDecodedIsRefused(encoded: String) throws {
    let problem = try #require(throws: Problem.self) {
      try RequestTarget.decode(encoded.utf8, what: "The path")
    }
    #expect(problem.status == .badRequest)
    #expect(problem.error == "invalid_uri")
    #expect(problem.reason.hasPrefix("The path"))
  }

  @Test func plusIsASpaceInAQueryOnly() throws {
    #expect(try RequestTarget.decode("a+b".utf8, plusIsSpace: true, what: "") == "a b")
    #expect(try RequestTarget.decode("a%2Bb".utf8, plusIsSpace: true, what: "") == "a+b")
    #expect(try RequestTarget.decode("a+b".utf8, what: "") == "a+b")
  }

  @Test(arguments: [
    "/", "/v1/me", "/v1/me/", "/a%2F..%2Fb", "/a%20b", "/.well-known", "/a..b", "/a?b=%zz",
    "/a?b=//", "/...", "/%252e%252e/x", "/couch/db/%2E", "/couch/db/%2e%2E", "/couch//db//a/",
  ])
  func goodTargetsPass(target: String) throws {
    try RequestTarget.check(target, in: Problem.Dialect(path: target))
  }

  @Test(arguments: [
    ("", 400), ("v1/me", 400), ("*", 400), ("/a b", 400), ("/\u{7F}", 400), ("/\u{E9}", 400),
    ("/a#b", 400), ("/a\tb", 400), ("/v1/./me", 400), ("/v1/../me", 400), ("/..", 400),
    ("/v1/%2e%2E/me", 400), ("/.%2e/", 400), ("/%2e", 400), ("/a%zz", 400), ("/a%00", 400),
    ("/couch/db/..", 400), ("/couch/./db", 400), ("/couch/%ff", 400), ("/couch/%00", 400),
    ("/a%ff", 400), ("//couch/db", 404), ("//", 404), ("//v1/me", 404), ("/v1//me", 404),
    ("/v1/me//", 404),
    ("/" + String(repeating: "x", count: 16_384), 414),
  ])
  func badTargetsAreRefused(target: String, status: Int) throws {
    var dialects = [Problem.Dialect(path: target)]
    if target.hasPrefix("//") { dialects.append(.couch) }
    for dialect in dialects {
      let problem = try #require(throws: Problem.self) {
        try RequestTarget.check(target, in: dialect)
      }
      #expect(problem.status.code == status)
    }
  }

  @Test func longestTargetPasses() throws {
    try RequestTarget.check(
      "/" + String(repeating: "x", count: RequestTarget.maximumBytes - 1), in: .problem)
  }

  @Test(arguments: [
    ("abc-._~019", "abc-._~019"), ("a/b", "a%2Fb"), ("\u{E9}", "%C3%A9"), ("%", "%25"),
    (" ", "%20"), (".", "%2E"), ("..", "%2E%2E"), ("...", "..."),
  ])
  func segmentIsEncodedSoThatItDecodesAgain(text: String, encoded: String) throws {
    #expect(text.urlSegment == encoded)
    #expect(try RequestTarget.decode(encoded.utf8, what: "") == text)
  }
}

@Suite struct HTTPFieldNamesTests {
  /// An invalid name would stop the server at its first use.
  @Test func eachIsAName() {
    let names: [HTTPField.Name] = [
      .cacheStatus, .couchRequestID, .destination, .hostField, .idempotencyKey, .lastEventID,
      .methodOverride, .prefer, .renewedToken, .serverTiming, .xForwardedFor, .xRequestID,
    ]
    #expect(Set(names.map(\.canonicalName)).count == names.count)
    #expect(HTTPRequest.Method.copy.rawValue == "COPY")
  }
}
