import Documents
import Glibc
import NIOConcurrencyHelpers
import Scheduling
import Stores

/// The directory that holds all of a service's data, locked for as long as this object lives.
///
/// ```
/// lock  format  registry.sqlite  stores/ab/cd/<SHA-256 of the store's key>.sqlite
/// ```
/// No name or text of a user is ever part of a path; two levels of 256 keep directories small.
final class DataDirectory: Sendable {
  /// The directory, absolute, without symbolic links.
  let path: String
  /// The descriptor that holds the lock; nil after ``unlock()``.
  private let lock: NIOLockedValueBox<Int32?>
  /// The directories whose entries in their parent directories are known to be on the disk.
  private let durable = NIOLockedValueBox<Set<String>>([])

  /// Creates the directory if only the last element of its path is missing, checks it and locks it.
  ///
  /// The lock is advisory (`flock(2)`). The system releases it when the process ends, however it ends.
  init(_ path: String) throws(DataDirectoryError) {
    self.path = try Self.prepare(path)
    let file = self.path + "/lock"
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.unreachable(SystemError("open", file)) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let error = SystemError("flock", file)
      Glibc.close(descriptor)
      throw DataDirectoryError(
        .inUse, "Another process uses the data directory \(self.path); stop it first",
        detail: error.debugDescription)
    }
    lock = NIOLockedValueBox(descriptor)
  }

  deinit { unlock() }

  /// Releases the lock, so that other processes can use the directory.
  func unlock() {
    lock.withLockedValue { descriptor in
      if let descriptor { Glibc.close(descriptor) }
      descriptor = nil
    }
  }

  /// Whether the path still leads to the directory that was opened: it was neither moved nor replaced. The method
  /// compares the open lock file with the file at the path.
  var isInPlace: Bool {
    lock.withLockedValue { descriptor in
      var (opened, found) = (stat(), stat())
      guard let descriptor, fstat(descriptor, &opened) == 0, lstat(path + "/lock", &found) == 0
      else { return false }
      return opened.st_ino == found.st_ino && opened.st_dev == found.st_dev
    }
  }

  /// Whether there is a registry of stores.
  var hasRegistry: Bool { ((try? Disk.entry(at: path + "/" + Self.registryName)) ?? nil) != nil }
  /// The registry's file.
  var registry: DatabaseFile { DatabaseFile(directory: path, name: "registry.sqlite") }
  /// The directory of the stores.
  var stores: String { path + "/stores" }
  /// The file that reserves disk space for deletions on a full disk.
  var reserve: String { path + "/reserve" }
  /// The log of erasures; see ``ErasureLog``.
  var erasures: String { path + "/" + BackupManifest.Extra.erasures.rawValue }
  /// The directory of copies of another engine's stores that are not complete yet.
  var copies: String { path + "/copies" }
  /// The file that is written to check that files can be written.
  var probe: String { path + "/probe" }

  /// The file of a store.
  func file(for key: String) -> DatabaseFile { Self.file(for: key, below: stores) }

  /// The file of a store in any directory of stores.
  static func file(for key: String, below stores: String) -> DatabaseFile {
    let name = fileName(for: key)
    let outer = String(decoding: name.utf8.prefix(2), as: UTF8.self)
    let inner = String(decoding: name.utf8.dropFirst(2).prefix(2), as: UTF8.self)
    return DatabaseFile(directory: "\(stores)/\(outer)/\(inner)", name: name)
  }

  /// The name of a store's file: the SHA-256 of the key.
  static func fileName(for key: String) -> String { Hex.digest(of: key, digits: 64) + ".sqlite" }

  /// Creates the directory of a store's file and the directories above it durably.
  func makeDirectory(of file: DatabaseFile) throws(SystemError) {
    let outer = String(decoding: file.directory.utf8.dropLast(3), as: UTF8.self)
    for (directory, parent) in [(stores, path), (outer, stores), (file.directory, outer)] {
      guard !durable.withLockedValue({ $0.contains(directory) }) else { continue }
      // An existing directory may have been created just before a crash, so its entry is synced too.
      try Disk.makeDirectory(directory)
      try Disk.synchronizeDirectory(parent)
      durable.withLockedValue { known in _ = known.insert(directory) }
    }
  }

  // MARK: The format file. It stops other versions of the service from using the directory

  /// The name of the file with the version of the stores' tables in the directory: a number and a line break.
  static let formatName = "format"
  /// The name of the directory that a restoration writes into until it is complete.
  static let restoringName = "restoring"

  /// Checks that a path has a data directory, even a damaged one: a registry, stores, the format file or an unfinished
  /// restoration. Creates nothing.
  /// - Throws: `noData`, also for a backup; `unreachable`.
  static func requireThere(_ path: String) throws(DataDirectoryError) {
    try requireNoBackup(path)
    do throws(SystemError) {
      for name in [registryName, storesName, formatName, restoringName] {
        if try Disk.entry(at: path + "/" + name) != nil { return }
      }
    } catch { throw unreachable(error) }
    throw DataDirectoryError(
      .noData, "\(path) is no data directory: it has no registry; serve makes one")
  }

  /// A server would write into a backup, and devices that sync would not start over.
  private static func requireNoBackup(_ path: String) throws(DataDirectoryError) {
    guard try BackupManifest.isThere(in: path) else { return }
    throw DataDirectoryError(
      .noData,
      "\(path) is a backup; restore it: hotel-bookmarks restore \(path) --data NEWDIR")
  }

  /// Creates the directory if only the last element of its path is missing, unless it is a data directory already.
  /// - Throws: as ``requireThere(_:)`` for a directory with other files than those of a catalogue; as ``prepare(_:)``.
  static func prepareForFiles(_ path: String) throws(DataDirectoryError) {
    let missing: DataDirectoryError
    do throws(DataDirectoryError) { return try requireThere(path) } catch { missing = error }
    guard missing.code == .noData else { throw missing }
    let real = try prepare(path)
    let names: [String]
    do throws(SystemError) { names = try Disk.names(in: real) ?? [] } catch {
      throw unreachable(error)
    }
    guard names.allSatisfy({ $0.hasPrefix("catalogue.") }) else { throw missing }
  }

  /// Checks that a version of the service may use the directory, and durably writes this version to the format file
  /// before any of its data is written.
  /// - Throws: as ``requireKnown(_:version:)`` does.
  func requireUsable(byVersion version: Int32) throws(DataDirectoryError) {
    guard try Self.requireKnown(path, version: version) != version else { return }
    do throws(SystemError) {
      try Self.writeFormat(version, in: path)
      try Disk.synchronizeDirectory(path)
    } catch { throw Self.unreachable(error) }
  }

  /// Writes the format file. Its name is durable after the caller has synced the directory.
  static func writeFormat(_ version: Int32, in path: String) throws(SystemError) {
    let file = path + "/" + formatName
    try Disk.write(Array("\(version)\n".utf8), to: file + ".new")
    try Disk.rename(file + ".new", to: file)
  }

  /// Checks the format file without writing anything.
  /// - Returns: the version in the file; nil for a directory that has neither this file nor stores.
  /// - Throws: `otherFormat`, `unfinishedRestore`, `unreachable`.
  @discardableResult
  static func requireKnown(_ path: String, version: Int32) throws(DataDirectoryError) -> Int32? {
    let restoring: Disk.Entry?
    let registry: Disk.Entry?
    let format: [UInt8]?
    do throws(SystemError) {
      restoring = try Disk.entry(at: path + "/" + restoringName)
      registry = try Disk.entry(at: path + "/" + registryName)
      format = try Disk.contents(of: path + "/" + formatName, atMost: 64)
    } catch { throw unreachable(error) }
    guard restoring == nil else {
      throw DataDirectoryError(
        .unfinishedRestore,
        "A restoration into \(path) was cut short; empty the directory and restore again")
    }
    if format == nil, registry == nil { return nil }
    let digits = format?.last == UInt8(ascii: "\n") ? format?.dropLast() : format?[...]
    guard let digits, let found = Int32(String(decoding: digits, as: UTF8.self)), found > 0 else {
      throw DataDirectoryError(
        .unreachable,
        "\(path)/\(formatName) is \(format == nil ? "missing" : "damaged"); write \(version) into it if this "
          + "version wrote the directory")
    }
    let what = "The data directory \(path) was written"
    if let refusal = OtherVersion.refusal(of: what, found, Schema.store.base, version) {
      throw DataDirectoryError(.otherFormat, refusal)
    }
    return found
  }

  /// File systems that share files between machines, as `/proc` calls them (proc(5)).
  private static let networkTypes: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "fuse.glusterfs",
    "fuse.sshfs", "lustre", "ncpfs",
  ]

  /// Creates the directory if necessary, checks it and returns its path without symbolic links.
  static func prepare(_ path: String) throws(DataDirectoryError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw DataDirectoryError(.unreachable, "The data directory has no name")
    }
    do { try Disk.makeDirectory(path) } catch { throw unreachable(error) }
    let (real, entry) = try entry(of: path)
    guard entry.owner == geteuid() else {
      throw DataDirectoryError(
        .wrongOwner, "\(real) belongs to user \(entry.owner), not to this process's \(geteuid())")
    }
    try requireNoBackup(real)
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
      let above = point == [UInt8(ascii: "/")] ? point : point + [UInt8(ascii: "/")]
      guard (path + "/").utf8.starts(with: above), point.count >= best?.length ?? 0
      else { continue }
      best = (point.count, String(decoding: fields[2], as: UTF8.self))
    }
    return best?.type
  }

  /// The error for a system call that failed on the directory.
  static func unreachable(_ error: SystemError) -> DataDirectoryError {
    DataDirectoryError(
      .unreachable, "The data directory \(error.path) can't be used: \(error.cause)",
      detail: error.debugDescription)
  }

  /// The text of the mounts; empty when `/proc` is not available, because the check of the file system is only a help
  /// for the operator.
  private static func mounts() -> String {
    let text = try? Disk.contents(of: "/proc/self/mounts", atMost: .max)
    return String(decoding: text ?? [], as: UTF8.self)
  }

  /// A mount point in which the kernel's escapes, such as `\040`, are decoded.
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

/// The data directory of a server whose stores are in a database. It is locked against other processes, and has the
/// search cache, the catalogue and the control socket, but no stores.
package final class NodeDirectory: Sendable {
  private let directory: DataDirectory

  /// Locks a directory. If only the last element of its path is missing, creates it.
  /// - Throws: ``DataDirectoryError``, also for a directory that has stores; the process should then end.
  package static func open(_ path: String) async throws(DataDirectoryError) -> NodeDirectory {
    try await ThreadPool.with(name: "directory") { threads throws(DataDirectoryError) in
      try await threads.run { () throws(DataDirectoryError) in
        let directory = try DataDirectory(path)
        // Stores that were moved are not hidden: they are in the database.
        let mark = try? DataDirectory.moveMark(in: directory.path)
        guard !directory.hasRegistry || mark?.kind == .moved else {
          throw DataDirectoryError(
            .hasStores,
            "\(path) has stores of its own, which a database would hide: "
              + "take another --data, or move them there first (hotel-bookmarks move)")
        }
        return NodeDirectory(directory)
      }
    }
  }

  private init(_ directory: DataDirectory) { self.directory = directory }

  /// Unlocks the directory for other processes.
  package func close() { directory.unlock() }
}
