import SearchProxy
import Testing

/// The URLs that the configuration accepts for an upstream.
@Suite struct UpstreamURLTests {
  @Test(arguments: [
    ("http://upstream", "http://upstream"),
    ("http://upstream/", "http://upstream"),
    ("HTTP://Upstream.Example:8080/Travel/v1/", "http://upstream.example:8080/Travel/v1"),
    ("https://upstream:443", "https://upstream"),
    ("https://upstream:80", "https://upstream:80"),
    ("http://[::1]:8091/x", "http://[::1]:8091/x"),
    ("http://127.0.0.1:65535", "http://127.0.0.1:65535"),
  ])
  func urlWithAHostIsTaken(text: String, url: String) throws {
    #expect(try UpstreamURL(text).description == url)
    #expect(try UpstreamURL(text).url(of: "/api/") == url + "/api/")
  }

  @Test(
    arguments: [
      ("", .badScheme), ("upstream", .badScheme), ("ftp://upstream", .badScheme),
      ("http:/upstream", .badScheme), ("file:///etc/passwd", .badScheme), ("http://", .badHost),
      ("http:///x", .badHost), ("http://:80", .badHost), ("http://a b", .badHost),
      ("http://a\r\nb", .badHost), ("http://caf\u{e9}", .badHost), ("http://a%2Fb", .badHost),
      ("http://[::1", .badHost), ("http://[]", .badHost), ("http://[v1.x]", .badHost),
      ("http://a\\b", .badHost), ("http://u:p@upstream", .hasUserInformation),
      ("http://upstream:", .badPort), ("http://upstream:0", .badPort),
      ("http://upstream:65536", .badPort), ("http://upstream:+80", .badPort),
      ("http://[::1]80", .badPort), ("http://upstream/?x", .hasQueryOrFragment),
      ("http://upstream#x", .hasQueryOrFragment), ("http://upstream//", .badPath),
      ("http://upstream/a//b", .badPath), ("http://upstream/..", .badPath),
      ("http://upstream/./a", .badPath), ("http://upstream/%2e%2e/a", .badPath),
      ("http://upstream/a b", .badPath), ("http://upstream/caf\u{e9}", .badPath),
    ] as [(String, UpstreamURLError)])
  func anythingElseIsRefused(text: String, error: UpstreamURLError) {
    #expect(throws: error) { try UpstreamURL(text) }
  }
}
