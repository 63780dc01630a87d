import Glibc
import Scheduling
import Stores

/// The log of erased stores, `erasures.log`, with one store key a line. The log remains after the stores are erased, so
/// that restoring a backup that is older than an erasure does not undo the erasure.
///
/// It contains random ids only, which identify no person after the accounts are erased. It contains only stores of
/// guests, users and lists. A database that the administrator deleted by mistake can be restored from a backup.
package enum ErasureLog {
  /// The longest line, in bytes: a namespace, a slash and 32 digits are fewer.
  private static let maximumLine = 256

  /// Appends lines durably.
  static func append(_ names: [StoreName], to path: String) throws(SystemError) {
    let entry = try Disk.entry(at: path)
    if entry == nil { try Disk.touch(path) }
    // The text begins with a line break, too, because a power failure may have left an incomplete line before it.
    try Disk.append(Array(("\n" + names.map { $0.key + "\n" }.joined()).utf8), to: path)
    try Disk.synchronize(path)
    // An attempt that failed on a full disk leaves an empty file whose name was not synchronised.
    if entry?.size ?? 0 == 0 { try Disk.synchronizeDirectory(path.parent) }
  }

  /// Visits every store in a log. A store may be visited twice. Lines that are not keys of such stores are ignored.
  /// - Returns: false when the file does not exist.
  static func visit(_ path: String, _ body: (StoreName) -> Void) throws(SystemError) -> Bool {
    func take(_ line: ArraySlice<UInt8>) {
      let key = String(decoding: line, as: UTF8.self)
      if let name = StoreName(key: key), name.isPersonal { body(name) }
    }
    var rest: [UInt8] = []
    let isThere = try Disk.read(path) { piece in
      rest += piece
      var start = rest.startIndex
      while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
        take(rest[start..<end])
        start = end + 1
      }
      rest.removeSubrange(..<start)
      if rest.count > maximumLine { rest = [] }
      return true
    }
    // Whoever edits a copy of a log may leave out its last line break.
    take(rest[...])
    return isThere
  }
}

extension String {
  /// The directory of an absolute path.
  package var parent: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")), slash != startIndex else { return "/" }
    return String(self[..<slash])
  }

  /// The path without symbolic links; nil if nothing is there. A server and a command know a directory by the same path.
  package var realPath: String? {
    guard let resolved = realpath(self, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

extension FileEngine {
  /// Records durably that a store is erased. On a full disk it uses the space that is reserved for deletions.
  func logErasure(of name: StoreName) async throws {
    let (path, reserve) = (directory.erasures, reserve)
    try await registryThreads.run {
      do { try ErasureLog.append([name], to: path) } catch {
        let cause = ServiceError(engine: error)
        guard cause.code == .storageFull else { throw cause }
        reserve.release()
        try ErasureLog.append([name], to: path)
      }
    }
  }
}
