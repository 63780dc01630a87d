import Foundation

/// The names of this process's threads, as the kernel knows them.
enum ThreadNames {
  /// The names of all threads, in no order.
  static func now() -> [String] {
    let tasks = "/proc/self/task"
    let ids = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return ids.map { name(at: "\(tasks)/\($0)/comm") }
  }

  /// The name of the calling thread.
  static func current() -> String {
    name(at: "/proc/thread-self/comm")
  }

  /// Empty if the thread has gone.
  private static func name(at path: String) -> String {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.trimmingCharacters(in: .newlines)
  }
}
