import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// The state of writes that were answered before they were carried out.
struct ReceiptController: Sendable {
  let receipts: WriteReceipts

  var routes: [Route] {
    [Route(.get, "/v1/receipts/{id}", access: .person, answer: .uncached, run: receipt)]
  }

  private func receipt(_ call: Call, _ person: Principal) async throws -> Response {
    guard let id = ReceiptID(try call.parameter("id"), of: person.id),
      let state = try await receipts.state(of: id, person)
    else { throw Problem.notFound }
    var fields: HTTPFields = [:]
    if case .pending = state { fields[.retryAfter] = "1" }
    return .json(headers: fields) { writer in
      writer.member("id", id.text)
      Self.write(state, to: &writer)
    }
  }

  private static func write(_ state: WriteReceipts.State, to writer: inout JSONWriter) {
    switch state {
    case .pending: writer.member("status", "pending")
    case .committed(let answer):
      writer.member("status", "committed")
      if !answer.isGone {
        writer.name("changed")
        KeptAnswer.append(answer.changes, to: &writer)
      }
      writer.object("answer") { write(answer, to: &$0) }
    case .rejected(let answer):
      writer.member("status", "rejected")
      let problem = try? JSONValue(parsing: answer.body, limits: .request)
      writer.member("reason", problem?["reason"]?.string ?? "")
      writer.member("problem", raw: answer.body)
    }
  }

  /// Writes the answer that the client would have got if it had waited.
  private static func write(_ answer: KeptAnswer, to writer: inout JSONWriter) {
    writer.member("status", answer.status)
    writer.object("headers") { writer in
      for field in answer.fields { writer.member(field.name, field.value) }
    }
    if !answer.body.isEmpty { writer.member("body", raw: answer.body) }
  }
}
