import Documents
import HTTPAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import SQLiteEngine

/// Calls the routes of the server that uses a data directory, over its control socket.
enum ControlClient {
  /// An answer, as far as it has come.
  struct Answer: Sendable {
    fileprivate var status = HTTPResponseStatus.ok
    /// Its last line; an answer in one piece is one line.
    fileprivate var last: JSONNode?
    private var rest: [UInt8] = []

    /// A member of the last line.
    subscript(name: String) -> JSONNode? { last?[name] }

    fileprivate mutating func add(_ bytes: ByteBuffer, _ take: (JSONNode) -> Void) throws {
      rest += bytes.readableBytesView
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = try ParsedJSON(Array(rest[..<end]), limits: .request).root
        rest.removeSubrange(...end)
        take(line)
        last = line
      }
    }
  }

  /// How often it asks again while another job runs: twice a second.
  private static let pause = Duration.milliseconds(500)

  /// Calls an operation. It waits while another job runs.
  /// - Parameter body: the members of the body.
  /// - Parameter take: receives each line of the answer.
  /// - Returns: nil if no server listens there.
  /// - Throws: ``BackupError`` with the server's reason; ``SettingsError`` if something has to be configured first.
  static func call(
    _ method: HTTPMethod, _ path: String, _ body: KeyValuePairs<String, String?> = [:],
    in directory: String, _ take: @Sendable (JSONNode) -> Void = { _ in }
  ) async throws -> Answer? {
    while let socket = ControlSocket.connect(to: DataFiles.control(in: directory)) {
      let answer = try await exchange(method, path, self.body(body), over: socket, take)
      guard answer.status.code >= 400 else { return answer }
      guard answer["error"]?.stringEquals("job_running") == true else { throw failure(answer) }
      try await Task.sleep(for: pause)
    }
    return nil
  }

  /// Has the server do work on its stores.
  /// - Returns: the result, and whether there is damage; nil if no server listens there.
  /// - Throws: the errors of ``call(_:_:_:in:_:)``.
  static func perform(
    _ work: StoreWork, in directory: String, _ report: BackupAdministration.Report
  ) async throws -> (message: String, isDamaged: Bool)? {
    switch work {
    case .backup(let path): try await run("backups", ["path": path], in: directory, report)
    case .verification: try await run("verifications", in: directory, report)
    case .backupVerification(let name):
      try await run("backups/\(name)/verifications", in: directory, report)
    case .repair: try await run("repairs", in: directory, report)
    case .replacement(let store, let backup):
      try await run("replacements", ["store": store, "backup": backup], in: directory, report)
    }
  }

  /// Runs a job.
  /// - Parameter kind: its path below `/v1/admin`.
  static func run(
    _ kind: String, _ body: KeyValuePairs<String, String?> = [:], in directory: String,
    _ report: BackupAdministration.Report
  ) async throws -> (message: String, isDamaged: Bool)? {
    let path = "/v1/admin/" + kind
    guard let job = try await call(.POST, path, body, in: directory, report.take) else {
      return nil
    }
    switch job["state"]?.string {
    case "done"?:
      report.progress(1, "")
      return (job["result"]?.string ?? "", job["damaged"]?.bool ?? false)
    case "failed"?: throw failure(job)
    default: throw interruption
    }
  }

  /// The error of a problem, or of a job that failed.
  private static func failure(_ answer: Answer) -> any Error {
    let reason = (answer["reason"] ?? answer["result"])?.string ?? "The server failed to answer"
    return answer["error"]?.stringEquals("configuration") == true
      ? SettingsError(reason) : BackupError(.failed, reason)
  }

  private static let interruption = BackupError(.failed, "The server ended before it was done")

  private static func body(_ members: KeyValuePairs<String, String?>) -> ByteBuffer {
    guard !members.isEmpty else { return ByteBuffer() }
    return ByteBuffer(
      bytes: JSONWriter.object { writer in
        for case (let name, let value?) in members { writer.member(name, value) }
      })
  }

  /// Sends a request over a connected socket, and closes it after the answer.
  /// - Throws: ``BackupError`` for an answer that ends early.
  private static func exchange(
    _ method: HTTPMethod, _ path: String, _ body: ByteBuffer, over socket: Int32,
    _ take: @Sendable (JSONNode) -> Void
  ) async throws -> Answer {
    let head = HTTPRequestHead(
      version: .http1_1, method: method, uri: path,
      headers: [
        "Host": "localhost", "Connection": "close", "Accept": "application/x-ndjson",
        "Content-Type": "application/json", "Content-Length": "\(body.readableBytes)",
      ])
    do {
      let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .withConnectedSocket(socket) { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
              wrappingChannelSynchronously: channel)
          }
        }
      return try await connection.executeThenClose { parts, request in
        // In one write: a server that refuses a request may have closed before the next.
        try await request.write(contentsOf: [.head(head), .body(.byteBuffer(body)), .end(nil)])
        var answer = Answer()
        for try await part in parts {
          switch part {
          case .head(let head): answer.status = head.status
          case .body(let bytes): try answer.add(bytes, take)
          case .end: return answer
          }
        }
        throw interruption
      }
    } catch { throw interruption }
  }
}

/// Cancels the work of the server that uses a data directory, from the command line.
package enum JobCancellation {
  /// How often it asks whether the work has ended: four times a second.
  private static let pause = Duration.milliseconds(250)

  /// Cancels the work that runs, and waits for its end.
  /// - Returns: one line.
  /// - Throws: ``BackupError`` if no server uses the directory, or nothing runs.
  package static func run(in directory: String) async throws -> String {
    let jobs = try await call(.GET, "", in: directory)
    let running = jobs["jobs"]?.elements.first { $0["state"]?.stringEquals("running") == true }
    guard let id = running?["id"]?.string, let kind = running?["kind"]?.string else {
      throw BackupError(.failed, "The server does no such work now")
    }
    var job = try await call(.DELETE, "/" + id, in: directory)
    while job["state"]?.stringEquals("running") == true {
      try await Task.sleep(for: pause)
      job = try await call(.GET, "/" + id, in: directory)
    }
    return "\(kind): \(job["result"]?.string ?? "")"
  }

  private static func call(
    _ method: HTTPMethod, _ path: String, in directory: String
  ) async throws -> ControlClient.Answer {
    guard let answer = try await ControlClient.call(method, "/v1/admin/jobs" + path, in: directory)
    else { throw BackupError(.failed, "No server uses \(directory)") }
    return answer
  }
}
