import HTTPTypes
import Hummingbird
import NIOCore

extension Gate {
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
