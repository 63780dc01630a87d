import Foundation
import SQLiteEngine
import Synchronization
import TestSupport
import Testing

@testable import HotelBookmarks

/// The command line's client, against a server that answers what a test says.
@Suite struct ControlTests {
  /// Answers one connection after the other at a control socket.
  /// - Parameter answers: for each connection what is sent after its request.
  private static func serve(_ answers: [String], at path: String) throws -> Int32 {
    let opened = ControlSocket.bind(to: path)
    let socket = try #require(opened.descriptor, "\(opened.failure)")
    #expect(listen(socket, 8) == 0)
    Thread.detachNewThread {
      for answer in answers {
        let client = accept(socket, nil, nil)
        var request: [UInt8] = []
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
          var byte: UInt8 = 0
          guard recv(client, &byte, 1, 0) == 1 else { break }
          request.append(byte)
        }
        _ = answer.withCString { send(client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        close(client)
      }
    }
    return socket
  }

  private static func answer(_ status: String, _ lines: [String]) -> String {
    let body = lines.map { $0 + "\n" }.joined()
    return "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
  }

  /// Has a server verify its stores that answers this.
  /// - Returns: the result, and the lines that were reported.
  private static func verify(
    _ answers: String...
  ) async throws -> (result: (message: String, isDamaged: Bool)?, lines: [String]) {
    let directory = try TemporaryDirectory()
    let socket = try serve(answers, at: DataFiles.control(in: directory.path))
    defer { close(socket) }
    let lines = Mutex<[String]>([])
    let report = BackupAdministration.Report { _, words in
      lines.withLock { $0.append(words) }
    } finding: { line in
      lines.withLock { $0.append(line) }
    }
    let result = try await ControlClient.run("verifications", in: directory.path, report)
    return (result, lines.withLock { $0 })
  }

  @Test func aJobIsReportedAndItsLastLineIsTheResult() async throws {
    let (result, lines) = try await Self.verify(
      Self.answer(
        "200 OK",
        [
          #"{"done":3,"total":9}"#, #"{"finding":"stores/ab: \"b\""}"#,
          #"{"id":"1","done":9,"total":9,"state":"done","result":"2 damages","damaged":true}"#,
        ]))
    #expect(result?.message == "2 damages" && result?.isDamaged == true)
    #expect(lines == ["3 of 9 stores", "stores/ab: \"b\"", ""])
  }

  @Test func itWaitsWhileAnotherJobRuns() async throws {
    let (result, _) = try await Self.verify(
      Self.answer("409 Conflict", [#"{"error":"job_running","reason":"Wait"}"#]),
      Self.answer("200 OK", [#"{"id":"1","state":"done","result":"sound","damaged":false}"#]))
    #expect(result?.message == "sound" && result?.isDamaged == false)
  }

  @Test(arguments: [
    #"{"id":"1","state":"failed","result":"elsewhere","error":"configuration"}"#,
    #"{"id":"1","state":"failed","result":"elsewhere","error":"unavailable"}"#,
  ])
  func aFailureKeepsItsExitStatus(line: String) async throws {
    let error = try await #require(throws: (any Error).self) {
      try await Self.verify(Self.answer("200 OK", [line]))
    }
    #expect(StartFailure.line(error) == "elsewhere")
    #expect(StartFailure.status(of: error) == (line.contains("configuration") ? 78 : 1))
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK\r\n", "{\"failure\":\"unknown\"}\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"done\":1,\"total\":2}\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"done\":1,\"total\":2}\n",
  ])
  func anAnswerWithoutAnEndIsAFailure(text: String) async throws {
    let error = try await #require(throws: BackupError.self) { try await Self.verify(text) }
    #expect(error.reason == "The server ended before it was done")
  }

  @Test func aSocketIsReachedThroughALongPath() async throws {
    let directory = try TemporaryDirectory()
    for name in ["short", String(repeating: "long", count: 20)] {
      let path = directory.path + "/" + name
      let socket = try Self.serve([], at: path)
      let client = try #require(ControlSocket.connect(to: path))
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
      close(client)
      close(socket)
      #expect(ControlSocket.connect(to: path) == nil)
    }
    #expect(ControlSocket.connect(to: directory.path + "/nobody") == nil)
  }
}
