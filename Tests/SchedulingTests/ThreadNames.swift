import Foundation

/// The kernel's names of this process's threads.
enum ThreadNames {
  /// The names of all threads, in any order.
  static func now() -> [String] {
    let tasks = "/proc/self/task"
    let ids = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return ids.map { name(at: "\(tasks)/\($0)/comm") }
  }

  static func current() -> String {
    name(at: "/proc/thread-self/comm")
  }

  /// The name in a file; empty if the thread has ended.
  private static func name(at path: String) -> String {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.trimmingCharacters(in: .newlines)
  }
}
