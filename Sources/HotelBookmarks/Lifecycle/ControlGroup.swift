import FoundationEssentials

/// The control group that the process is in, as far as it says how much memory there is.
///
/// Source: cgroups(7); the kernel's "Control Group v2", `memory.max`, and v1's `memory.limit_in_bytes`.
enum ControlGroup {
  /// The part of the limit that one kind of memory may take: an eighth.
  private static let part = 8

  /// Bytes that this process may take; nil without a limit.
  static var memoryLimit: Int? {
    memoryLimit(groups: text("/proc/self/cgroup") ?? "", read: text)
  }

  /// The least limit of the groups that a process is in and of those around them.
  /// - Parameter groups: what `/proc/self/cgroup` says: lines of `number:controllers:path`.
  /// - Parameter read: gives a file's text; nil for one that can't be read.
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
      // A container sees its own group as the root, whatever the path says.
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

  /// What one kind of memory may take of a limit.
  static func share(of limit: Int, least: Int, most: Int) -> Int {
    min(most, max(least, limit / part))
  }

  /// Nil for `max`. Version 1 says "no limit" by a number that no machine has, which bounds nothing.
  private static func number(_ text: String) -> Int? {
    text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }.flatMap {
      $0 > 0 ? $0 : nil
    }
  }

  private static func text(_ path: String) -> String? {
    try? String(contentsOfFile: path, encoding: .utf8)
  }
}
