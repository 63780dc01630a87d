import Glibc

/// What keeps a version of the service from a directory that is not for it.
extension DataDirectory {
  /// The name of the file that says which version of the stores' tables the directory may hold: a number
  /// and a line break. A directory without one is as old as can be.
  static let formatName = "format"
  /// The name of what a restoration writes into until it is done.
  static let restoringName = "restoring"

  /// Checks that there is a data directory at a path, also one that is damaged: a registry, stores, or the file that
  /// says which version it is of. Nothing is made.
  /// - Throws: `noData`; `unreachable`.
  static func requireThere(_ path: String) throws(DataDirectoryError) {
    do throws(SystemError) {
      for name in [registryName, storesName, formatName, restoringName] {
        if try Disk.entry(at: path + "/" + name) != nil { return }
      }
    } catch { throw unreachable(error) }
    throw DataDirectoryError(
      .noData, "\(path) is no data directory: it has no registry; serve makes one")
  }

  /// Checks that a version of the service may use the directory, which then says so, durably, before
  /// anything of that version is written into it.
  /// - Throws: as ``requireKnown(_:version:)`` does.
  func requireUsable(byVersion version: Int32) throws(DataDirectoryError) {
    let found = try Self.requireKnown(path, version: version)
    guard found.map({ $0 < version }) ?? true else { return }
    do throws(SystemError) {
      try Self.writeFormat(version, in: path)
      try Disk.synchronizeDirectory(path)
    } catch {
      // What a disk that takes no writes holds can be read all the same; a later start says it.
      guard [ENOSPC, EDQUOT, EROFS].contains(error.number) else { throw Self.unreachable(error) }
    }
  }

  /// Writes what a directory says of itself; its name is durable once the directory is synchronised.
  static func writeFormat(_ version: Int32, in path: String) throws(SystemError) {
    let file = path + "/" + formatName
    try Disk.write(Array("\(version)\n".utf8), to: file + ".new")
    try Disk.rename(file + ".new", to: file)
  }

  /// Checks what a directory says of itself; nothing is written.
  /// - Returns: the version that it says; nil where it says nothing.
  /// - Throws: `newerFormat`, `unfinishedRestore`, `unreachable`.
  @discardableResult
  static func requireKnown(_ path: String, version: Int32) throws(DataDirectoryError) -> Int32? {
    let restoring: Disk.Entry?
    let format: [UInt8]?
    do throws(SystemError) {
      restoring = try Disk.entry(at: path + "/" + restoringName)
      format = try Disk.contents(of: path + "/" + formatName, atMost: 64)
    } catch { throw unreachable(error) }
    guard restoring == nil else {
      throw DataDirectoryError(
        .unfinishedRestore,
        "A restoration into \(path) was cut short; empty the directory and restore again")
    }
    guard let format else { return nil }
    let digits = format.last == UInt8(ascii: "\n") ? format.dropLast() : format[...]
    guard let found = Int32(String(decoding: digits, as: UTF8.self)), found > 0 else {
      throw DataDirectoryError(
        .unreachable,
        "\(path)/\(formatName) is damaged; remove it if no newer version was ever used here")
    }
    guard found <= version else {
      throw DataDirectoryError(
        .newerFormat,
        "The data directory \(path) was written by a newer version of this service: its format is \(found), "
          + "this version knows \(version)")
    }
    return found
  }
}
