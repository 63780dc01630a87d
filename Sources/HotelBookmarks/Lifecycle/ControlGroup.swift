import FoundationEssentials
import Glibc

/// The memory limit of the process's control group.
///
/// Source: cgroups(7); the kernel's "Control Group v2", `memory.max`, and v1's `memory.limit_in_bytes`.
enum ControlGroup {
  /// Each kind of memory gets this part of the limit: an eighth.
  private static let part = 8

  /// Bytes that this process may use; nil without a limit.
  static var memoryLimit: Int? { memoryLimit(groups: text("/proc/self/cgroup") ?? "", read: text) }

  /// The lowest limit of the process's groups and their parents.
  /// - Parameter groups: the text of `/proc/self/cgroup`: lines of `number:controllers:path`.
  /// - Parameter read: returns a file's text; nil for one that can't be read.
  static func memoryLimit(groups: String, read: (String) -> String?) -> Int? {
    var limits: [Int] = []
    for line in groups.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let root: String
      let file: String
      if parts[1].isEmpty {
        (root, file) = ("/sys/fs/cgroup", "memory.max")
      } else if parts[1].split(separator: ",").contains("memory") {
        (root, file) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
      } else {
        continue
      }
      // A container sees its own group as the root, whatever the path is.
      var path = parts[2].split(separator: "/")
      while true {
        let directory = path.isEmpty ? root : root + "/" + path.joined(separator: "/")
        if let limit = read(directory + "/" + file).flatMap({ number($0) }) { limits.append(limit) }
        guard !path.isEmpty else { break }
        path.removeLast()
      }
    }
    return limits.min()
  }

  /// The share of one kind of memory in a limit.
  static func share(of limit: Int, least: Int, most: Int) -> Int {
    min(most, max(least, limit / part))
  }

  /// Nil for `max`. Version 1 writes "no limit" as a number larger than any memory, which has no effect.
  private static func number(_ text: String) -> Int? {
    text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }.flatMap {
      $0 > 0 ? $0 : nil
    }
  }

  private static func text(_ path: String) -> String? {
    try? String(contentsOfFile: path, encoding: .utf8)
  }
}
