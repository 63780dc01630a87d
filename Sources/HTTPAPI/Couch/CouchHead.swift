import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import Synchronization

/// CouchDB's rules for the head of every request and answer in its dialect.
///
/// Source: CouchDB 3, `chttpd:handle_request_int/1`.
enum CouchHead {
  private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete, .copy]

  /// The request with the method that the client means: a `POST` may name another method in `X-HTTP-Method-Override`,
  /// because some clients and proxies know only GET and POST.
  static func applyingMethodOverride(to request: Request) -> Request {
    guard request.method == .post, let name = request.headers.value(of: .methodOverride)
    else { return request }
    // `HEAD` becomes `GET`: an answer to HEAD has no body, and a client that sent POST would wait for one.
    guard let method = methods.first(where: { $0.rawValue == (name == "HEAD" ? "GET" : name) })
    else { return request }
    var head = request.head
    head.method = method
    return Request(head: head, body: request.body)
  }

  /// Adds CouchDB's `X-Couch-Request-ID` to an answer: the client's own, if it has CouchDB's form. Otherwise a failure has
  /// the same id in the log. Besides it says how long the request's body took.
  static func addFields(
    to fields: inout HTTPFields, of request: Request, _ reservation: RequestReservation?
  ) {
    let given = request.headers[.couchRequestID].flatMap { isRequestID($0) ? $0 : nil }
    fields[.couchRequestID] = given ?? fields[.xRequestID] ?? nextID()
    fields[.couchBodyTime] = String(reservation?.bodyMilliseconds ?? 0)
  }

  private static func isRequestID(_ text: String) -> Bool {
    (1...36).contains(text.utf8.count)
      && text.utf8.allSatisfy { PathSegment.isUnreserved($0) && $0 != 0x2E && $0 != 0x7E }
  }

  /// An id of ten digits. It only has to differ from other ids, so it comes from a counter: random numbers of the
  /// system would cost a system call in each request. The step spreads the ids over all digits.
  private static func nextID() -> String {
    let number = lastID.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    return withUnsafeBytes(of: number.bigEndian) { Hex.string($0.prefix(5)) }
  }

  private static let lastID = Atomic(UInt64.random(in: .min ... .max))
}
