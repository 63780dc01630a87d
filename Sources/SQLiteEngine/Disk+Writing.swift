import Glibc
import Lanes
import SQLite

/// Writing files and directories that are not databases in use.
extension Disk {
  /// Makes an empty file that only its owner may read.
  static func touch(_ path: String) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    close(descriptor)
  }

  /// Adds bytes to a file that is there; they are not put on the disk.
  static func append(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    try writeAll(bytes[...], to: descriptor, path)
  }

  /// Copies a file, of which the copy is its owner's alone; it is not put on the disk. A file that was put in
  /// the original's place meanwhile makes no difference: what was opened is copied.
  /// - Returns: false when there is no such file.
  static func copy(_ path: String, to target: String) throws(SystemError) -> Bool {
    var descriptor: Int32 = -1
    defer { if descriptor >= 0 { close(descriptor) } }
    func begin() throws(SystemError) {
      guard descriptor < 0 else { return }
      descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw SystemError("open", target) }
    }
    let isThere = try read(path, piece: 1 << 18) { piece throws(SystemError) in
      try begin()
      try writeAll(piece, to: descriptor, target)
      return true
    }
    if isThere { try begin() }
    return isThere
  }

  /// Removes a directory and all below; links are removed, not followed. One that is not there is removed
  /// already.
  static func removeTree(_ path: String) throws(SystemError) {
    guard let entry = try entry(at: path) else { return }
    guard entry.isDirectory else { return try remove(path) }
    for name in try names(in: path) ?? [] { try removeTree(path + "/" + name) }
    guard rmdir(path) == 0 || errno == ENOENT else { throw SystemError("rmdir", path) }
  }

  /// Puts all that is in a directory on the disk, its entries too.
  static func synchronizeTree(_ path: String) throws(SystemError) {
    for name in try names(in: path) ?? [] {
      let child = path + "/" + name
      let isDirectory = try entry(at: child)?.isDirectory ?? false
      if isDirectory { try synchronizeTree(child) } else { try synchronize(child) }
    }
    try synchronizeDirectory(path)
  }

  private static func writeAll(
    _ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String
  ) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write", path) }
      rest = rest.dropFirst(count)
    }
  }
}

extension SystemError {
  /// A failure by its number.
  init(_ call: String, _ path: String, number: Int32) {
    errno = number
    self.init(call, path)
  }
}

/// Puts many files on the disk. Several threads wait at once, as waiting for one disk is work that calls share:
/// one after the other they would take most of a restoration's time.
enum TreeSynchronization {
  /// How many wait at once.
  private static let waitingAtOnce = 8

  /// Puts all that is in the directories below a path on the disk, those directories' entries too, but not the
  /// path's own.
  static func run(below path: String) async throws(BackupError) {
    let lanes = LaneGroup(count: waitingAtOnce, name: "sync")
    let failure = await synchronize(below: path, lanes)
    await lanes.stop()
    if let failure { throw BackupError(failure) }
  }

  private static func synchronize(below path: String, _ lanes: LaneGroup) async -> SystemError? {
    let names: [String]
    do throws(SystemError) {
      names = try await LaneWork(lanes.next()).run { () throws(SystemError) in
        try Disk.names(in: path) ?? []
      }
    } catch { return error }
    return await withTaskGroup(of: SystemError?.self) { group in
      for name in names {
        let (work, directory) = (LaneWork(lanes.next()), path + "/" + name)
        group.addTask { await work.run { Self.failure(below: directory) } }
      }
      var failure: SystemError?
      for await error in group { failure = failure ?? error }
      return failure
    }
  }

  private static func failure(below path: String) -> SystemError? {
    do throws(SystemError) {
      try Disk.synchronizeTree(path)
      return nil
    } catch { return error }
  }
}

/// The size of a store's file, which SQLite is asked for only where it matters: it prepares a pragma anew at each use,
/// which takes some microseconds.
struct FileSize {
  /// What was counted last, and how many pages the connection had written by then; each since may be a new one.
  private var counted: (bytes: Int64, pageBytes: Int64, writtenPages: Int64)?

  /// Whether the pages in use hold more bytes than `limit`; free ones are counted only in a file of that size.
  mutating func exceeds(_ limit: Int64, in connection: Connection) throws -> Bool {
    let written = try connection.writtenPages()
    if let counted, counted.writtenPages <= written {
      let new = (written - counted.writtenPages) * counted.pageBytes
      if counted.bytes + new <= limit { return false }
    }
    let pageBytes = try connection.pageSize()
    let bytes = try connection.pageCount() * pageBytes
    counted = (bytes, pageBytes, written)
    guard bytes > limit else { return false }
    return try bytes - connection.freePageCount() * pageBytes > limit
  }
}
