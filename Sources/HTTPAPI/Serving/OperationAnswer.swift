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

extension RequestRouter {
  /// Answers an operator's question at once, on the thread that asks: nothing is waited for, and no other request
  /// stands before it. What is answered, counted and added to the answer is what
  /// ``respond(to:context:)`` would.
  /// - Returns: nil for any other request, and for one that has to be refused.
  func answerAtOnce(_ head: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)? {
    guard head.method == .get || head.method == .head, let target = head.path,
      let question = OperationQuestion(target: target)
    else { return nil }
    let start = ContinuousClock.now
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    guard (try? Self.checkHead(request)) != nil,
      let metrics = table.find(.get, target)?.0.metrics
    else { return nil }
    let answer = health.answer(question)
    var fields = answer.fields
    fields[.contentLength] = String(answer.body.readableBytes)
    crossOrigin.decorate(&fields, origin: head.headerFields.value(of: .origin))
    fields.append(Self.noSniffing)
    fields.append(date.now)
    metrics.record(status: answer.status.code, duration: ContinuousClock.now - start)
    return (
      HTTPResponse(status: answer.status, headerFields: fields),
      head.method == .head ? ByteBuffer() : answer.body
    )
  }
}
