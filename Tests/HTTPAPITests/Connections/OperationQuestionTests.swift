import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Stores
import Testing

@testable import HTTPAPI
@testable import HTTPServer

/// What operators ask is answered on the event loop, whatever else waits.
@Suite struct OperationQuestionTests {
  private func router() async throws -> (router: RequestRouter, service: HTTPService) {
    let service = try await APIFixture.service()
    await service.findHealth(APIFixture.quiet)
    return (service.router(), service)
  }

  private func request(_ path: String, method: String = "GET", fields: String = "") -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
  }

  @Test(arguments: OperationQuestion.allCases.map(\.rawValue), ["", "?x=1"])
  func questionIsAnsweredWithoutASlotAndWithoutATask(path: String, query: String) async throws {
    let admission = Admission(atOnce: 0)
    let wire = try Wire(admission: admission, router: try await router().router)
    try wire.receive(request(path + query))
    let answer = try wire.sent()
    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.lowercased().contains("\r\ndate: "))
    #expect(answer.lowercased().contains("x-content-type-options: nosniff"))
    #expect(admission.runningCount == 0 && admission.refusedCount == 0)
    // Only the request's end arrives, which the idle timer needs.
    #expect(try wire.requests() == [.end(nil)])
    try wire.receive(request(path))
    #expect(try wire.sent().hasPrefix("HTTP/1.1 200 "))
  }

  @Test(arguments: OperationQuestion.allCases.map(\.rawValue))
  func headHasTheFieldsAndNoBody(path: String) async throws {
    let wire = try Wire(router: try await router().router)
    try wire.receive(request(path))
    let whole = try lines(wire.sent())
    try wire.receive(request(path, method: "HEAD"))
    let head = try lines(wire.sent())
    #expect(whole.starts(with: head) && whole.count > head.count)
  }

  /// The lines that are not empty, without the date.
  private func lines(_ answer: String) -> [Substring] {
    answer.split(separator: "\r\n").filter { !$0.lowercased().hasPrefix("date:") }
  }

  @Test func answerWaitsForThoseThatWereAskedBefore() async throws {
    let wire = try Wire(router: try await router().router)
    try wire.receive(Wire.get + request("/healthz"))
    #expect(try wire.sent().isEmpty)
    #expect(try wire.requests().count == 4)
    wire.answer(.accepted)
    wire.answer(.noContent)
    #expect(try wire.sent().hasPrefix("HTTP/1.1 202 "))
    try wire.receive(request("/healthz") + Wire.get)
    #expect(try wire.sent().contains("alive"))
    #expect(try wire.requests().count == 3)
  }

  @Test func connectionIsClosedWhereThatWasAskedFor() async throws {
    let wire = try Wire(router: try await router().router)
    try wire.receive(request("/healthz", fields: "Connection: close\r\n"))
    #expect(try wire.sent().lowercased().contains("connection: close"))
    wire.wait(wire.limits.linger)
    #expect(!wire.channel.isActive)
  }

  @Test func whatIsWrongWithARequestIsForItsRoute() async throws {
    let wire = try Wire(router: try await router().router)
    for line in ["POST /healthz", "GET /healthz/x", "GET /v1/limits"] {
      try wire.receive("\(line) HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try wire.sent().isEmpty, "\(line)")
      #expect(try wire.requests().count == 2, "\(line)")
      wire.answer()
      _ = try wire.sent()
    }
  }

  @Test func pagesOfAllowedOriginsMayRead() async throws {
    try await APIFixture.open(origins: ["https://app.example"]) { api in
      let reply = try await api.call(
        .get, "/healthz", headers: [.origin: "https://app.example"])
      #expect(reply.headers[.accessControlAllowOrigin] == "https://app.example")
      let (head, _) = try #require(
        api.router.answerAtOnce(
          HTTPRequest(
            method: .get, scheme: "http", authority: "x", path: "/healthz",
            headerFields: [.origin: "https://app.example"])))
      #expect(head.headerFields[.accessControlAllowOrigin] == "https://app.example")
      for field in reply.headers where field.name != .date {
        #expect(head.headerFields[field.name] == field.value, "\(field.name)")
      }
    }
  }
}
