import JSON
import NIOHTTP1
import SQLiteEngine

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
