import Glibc

extension DataDirectory {
  /// File systems that share files between machines, as `/proc` calls them (proc(5)).
  private static let networkTypes: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "fuse.glusterfs",
    "fuse.sshfs", "lustre", "ncpfs",
  ]

  /// The directory's real path, after it was made if need be and checked.
  static func prepared(_ path: String) throws(DataDirectoryError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw DataDirectoryError(.unreachable, "The data directory has no name")
    }
    do { try Disk.makeDirectory(path) } catch { throw unreachable(error) }
    guard let resolved = realpath(path, nil) else {
      throw unreachable(SystemError("realpath", path))
    }
    let real = String(cString: resolved)
    free(resolved)
    let entry: Disk.Entry?
    do { entry = try Disk.entry(at: real) } catch { throw unreachable(error) }
    guard let entry, entry.isDirectory else {
      throw DataDirectoryError(.notADirectory, "\(real) is not a directory")
    }
    guard entry.owner == geteuid() else {
      throw DataDirectoryError(
        .wrongOwner, "\(real) belongs to user \(entry.owner), not to this process's \(geteuid())")
    }
    if let type = fileSystem(of: real, in: mounts()), networkTypes.contains(type) {
      throw DataDirectoryError(
        .networkFileSystem, "\(real) is on \(type); the data directory must be on a local disk")
    }
    return real
  }

  /// The type of the file system that holds a path: that of the longest mount point above it.
  /// - Parameter mounts: the text of `/proc/self/mounts`, the newest mount last.
  static func fileSystem(of path: String, in mounts: String) -> String? {
    var best: (length: Int, type: String)?
    for line in mounts.utf8.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 2 else { continue }
      let point = unescaped(fields[1])
      let isAbove =
        point == [UInt8(ascii: "/")] || path.utf8.elementsEqual(point)
        || (path.utf8.starts(with: point)
          && path.utf8.dropFirst(point.count).first == UInt8(ascii: "/"))
      guard isAbove, point.count >= best?.length ?? 0 else { continue }
      best = (point.count, String(decoding: fields[2], as: UTF8.self))
    }
    return best?.type
  }

  /// The error of a directory that a system call failed on.
  static func unreachable(_ error: SystemError) -> DataDirectoryError {
    DataDirectoryError(
      .unreachable, "The data directory \(error.path) can't be used",
      detail: error.debugDescription)
  }

  /// The mounts, or nothing where `/proc` is not there: the check is a courtesy to whoever mounted it.
  private static func mounts() -> String {
    guard let file = fopen("/proc/self/mounts", "re") else { return "" }
    defer { fclose(file) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += chunk.prefix(count)
    }
  }

  /// A mount point with the kernel's `\040` and the like taken back.
  private static func unescaped(_ field: Substring.UTF8View) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(field)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      guard byte == UInt8(ascii: "\\"), digits.count == 3,
        digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(digits.reduce(0) { $0 &<< 3 | ($1 &- UInt8(ascii: "0")) })
      rest = rest.dropFirst(3)
    }
    return bytes
  }
}

/// Why the service can't use its data directory: a reason not to start.
package struct DataDirectoryError: Error, Sendable, CustomDebugStringConvertible {
  /// What is wrong; closed, so that the composition root can pick its exit code.
  package enum Code: String, Sendable, CaseIterable {
    /// The directory is not there and can't be made, or can't be read.
    case unreachable
    /// Something else has that name.
    case notADirectory
    /// The directory holds no data of this service.
    case noData
    /// The directory belongs to another user.
    case wrongOwner
    /// The directory is on a file system of another machine, where locks and logs can't be relied on
    /// (<https://sqlite.org/wal.html>).
    case networkFileSystem
    /// Another process uses the directory.
    case inUse
    /// The registry of the stores is missing, damaged or written by a newer version.
    case registry
    /// The directory was written by a newer version of this service.
    case newerFormat
    /// A restoration into the directory was cut short.
    case unfinishedRestore
  }

  /// What is wrong.
  package let code: Code
  /// One line for the operator that says what to do.
  package let reason: String
  /// Paths and result codes.
  package let detail: String

  /// An error with its words.
  init(_ code: Code, _ reason: String, detail: String = "") {
    self.code = code
    self.reason = reason
    self.detail = detail
  }

  package var debugDescription: String {
    "DataDirectoryError(\(code.rawValue): \(reason) \(detail))"
  }
}
