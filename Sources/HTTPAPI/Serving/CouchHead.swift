import Documents
import HTTPTypes
import Hummingbird

/// What CouchDB does with the head of every request and answer, below `/couch`.
///
/// Source: CouchDB 3, `chttpd:handle_request_int/1`.
enum CouchHead {
  private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete, .copy]

  /// The request as it is meant: a `POST` may name another method in `X-HTTP-Method-Override`, for clients and proxies
  /// that know only two.
  static func meant(by request: Request) -> Request {
    guard request.method == .post, Problem.Dialect(path: request.uri.path) == .couch,
      let name = request.headers.value(of: .methodOverride)
    else { return request }
    // HEAD's answer has no body, which who has sent a POST would wait for.
    guard let method = methods.first(where: { $0.rawValue == (name == "HEAD" ? "GET" : name) })
    else { return request }
    var head = request.head
    head.method = method
    return Request(head: head, body: request.body)
  }

  /// Names an answer, as CouchDB's support asks for; a failure has the same name in the log.
  static func name(_ fields: inout HTTPFields, of request: Request) {
    guard Problem.Dialect(path: request.uri.path) == .couch else { return }
    var generator = SystemRandomNumberGenerator()
    fields[.couchRequestID] =
      fields[.xRequestID] ?? String(Hex.string(generator.next(), generator.next()).prefix(10))
  }
}
