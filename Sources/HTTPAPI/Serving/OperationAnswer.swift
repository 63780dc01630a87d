import HTTPTypes
import Hummingbird
import NIOCore

/// What operators and their probes ask, at any time.
enum OperationQuestion: String, CaseIterable, Sendable {
  /// Whether the process answers.
  case alive = "/healthz"
  /// Whether stores take writes and the upstream answers.
  case ready = "/readyz"
  /// The metrics.
  case metrics = "/metrics"
  /// CouchDB's question whether the server is up.
  case up = "/couch/_up"

  /// The question that a target asks, with any query; nil for any other target.
  init?(target: String) {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    guard let question = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(path) })
    else { return nil }
    self = question
  }
}

/// An answer that is known before it is asked for.
struct OperationAnswer: Sendable {
  /// The status.
  var status = HTTPResponse.Status.ok
  /// The fields, without the length.
  let fields: HTTPFields
  /// The body.
  let body: ByteBuffer

  /// As a route's handler answers it.
  var response: Response {
    Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
  }
}
