package import Stores

/// Marks of moves: files whose names are the kinds of ``MoveMark`` and whose text is for people.
extension DataDirectory {
  /// The longest text of a mark, in bytes.
  private static let longestMark = 4_096

  /// The mark of the directory at a path; nil when there is none.
  static func moveMark(in path: String) throws(SystemError) -> MoveMark? {
    for kind in MoveMark.Kind.allCases {
      guard
        let text = try Disk.contents(of: path + "/" + kind.rawValue, atMost: longestMark)
      else { continue }
      return MoveMark(
        kind, detail: String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
    return nil
  }

  /// Writes the directory's mark durably, or removes it.
  func setMoveMark(_ mark: MoveMark?) throws(SystemError) {
    if let mark { try Self.write(mark, in: path) }
    for kind in MoveMark.Kind.allCases where kind != mark?.kind {
      try Disk.remove(path + "/" + kind.rawValue)
    }
    try Disk.synchronizeDirectory(path)
  }

  fileprivate static func write(_ mark: MoveMark, in path: String) throws(SystemError) {
    let draft = path + "/" + draft(of: mark.kind)
    try Disk.write(Array((mark.detail + "\n").utf8), to: draft)
    try Disk.rename(draft, to: path + "/" + mark.kind.rawValue)
  }

  /// The name of the file that becomes a mark.
  fileprivate static func draft(of kind: MoveMark.Kind) -> String { kind.rawValue + ".new" }
}

extension FileEngine {
  package func moveMark() async throws -> MoveMark? {
    let path = directory.path
    return try await onDisk { try DataDirectory.moveMark(in: path) }
  }

  package func setMoveMark(_ mark: MoveMark?) async throws {
    let directory = directory
    try await onDisk { try directory.setMoveMark(mark) }
  }

  /// Checks that a data directory has no mark of a move.
  /// - Throws: `moved`, `unfinishedMove`, `unreachable`.
  package static func requireNoMoveMark(_ path: String) throws(DataDirectoryError) {
    let found: MoveMark?
    do { found = try DataDirectory.moveMark(in: path) } catch {
      throw DataDirectory.unreachable(error)
    }
    guard let found else { return }
    throw DataDirectoryError(
      found.kind == .moved ? .moved : .unfinishedMove,
      found.reason(at: path, removal: "remove the file \(path)/\(found.kind.rawValue)"))
  }

  /// Creates a data directory for a move into it, with the mark of an unfinished move. An empty directory, and one with
  /// this mark, are taken too.
  /// - Throws: `occupied` for any other directory; `unfinishedMove` for one with the mark of another move; `unreachable`,
  ///   `wrongOwner`, `networkFileSystem`.
  package static func prepareForMove(_ path: String, _ mark: MoveMark) throws(DataDirectoryError) {
    let real = try DataDirectory.prepare(path)
    let (names, found): ([String], MoveMark?)
    do {
      (names, found) = (try Disk.names(in: real) ?? [], try DataDirectory.moveMark(in: real))
    } catch { throw DataDirectory.unreachable(error) }
    if let found, found.kind == mark.kind, found != mark {
      throw DataDirectoryError(.unfinishedMove, found.reason(at: real, removal: ""))
    }
    // A process that is killed while it writes the mark leaves the mark's draft.
    let drafts = MoveMark.Kind.allCases.map(DataDirectory.draft(of:))
    let isEmpty = names.allSatisfy { (["lost+found", "lock"] + drafts).contains($0) }
    guard isEmpty || found == mark else {
      throw DataDirectoryError(.occupied, "\(real) is not empty; move into a new directory")
    }
    do throws(SystemError) {
      try DataDirectory.write(mark, in: real)
      try Disk.synchronizeDirectory(real)
    } catch { throw DataDirectory.unreachable(error) }
  }
}
