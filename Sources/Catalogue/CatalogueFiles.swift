package import Documents
import Glibc

/// The catalogue's files in the data directory. All calls block.
struct CatalogueFiles: Sendable {
  /// The directory, without symbolic links, which SQLite would refuse.
  let directory: String

  /// The catalogue that searches read. Never written in place.
  var database: String { directory + "/catalogue.sqlite" }
  /// The catalogue that an import writes; what a killed import left of it is removed by the next.
  var draft: String { directory + "/catalogue.sqlite.new" }
  /// The file whose lock the one import that may run holds.
  var lock: String { directory + "/catalogue.lock" }

  /// The files in `directory`, which must exist by the time they are used.
  init(directory: String) {
    guard let resolved = realpath(directory, nil) else {
      self.directory = directory
      return
    }
    defer { free(resolved) }
    self.directory = String(cString: resolved)
  }

  /// Removes what there is of a draft.
  func removeDraft() {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
  }

  /// Puts the finished draft in the place of the catalogue: after a power loss there is the old one or
  /// the new one, whole.
  /// - Throws: `storageFull`, `unavailable`; the old catalogue then still stands.
  func publishDraft() throws(CatalogueError) {
    try Self.synchronize(draft, flags: O_RDONLY)
    guard rename(draft, database) == 0 else { throw Self.failure("rename") }
    try Self.synchronize(directory, flags: O_RDONLY | O_DIRECTORY)
  }

  /// Who made the catalogue, by the bytes of its header alone; nil if they do not say.
  ///
  /// SQLite can't be asked, as it refuses a file that is damaged anywhere on its first page.
  func kindInHeader() -> CatalogueOrigin.Kind? {
    let file = open(database, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: 72)
    guard pread(file, &header, header.count, 0) == header.count else { return nil }
    let id = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return CatalogueOrigin.Kind(applicationID: Int32(bitPattern: id))
  }

  /// The error of the system call that has just failed.
  static func failure(_ call: String) -> CatalogueError {
    let code = errno
    let detail = "\(call): errno \(code)"
    guard code == ENOSPC || code == EDQUOT else {
      return CatalogueError(
        .unavailable, "The hotel catalogue's directory can't be used now.", detail: detail)
    }
    return CatalogueError(.storageFull, "There is no room for the hotel catalogue.", detail: detail)
  }

  private static func synchronize(_ path: String, flags: Int32) throws(CatalogueError) {
    let file = open(path, flags | O_CLOEXEC)
    guard file >= 0 else { throw failure("open") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure("fsync") }
  }
}

/// Where a catalogue came from, as its file remembers it.
package struct CatalogueOrigin: Sendable {
  /// Who made a catalogue.
  package enum Kind: String, Sendable {
    /// The hotels that this program carries.
    case embedded
    /// A file that somebody imported.
    case imported

    /// What SQLite keeps in the file's header, so that a file that is damaged further on still says
    /// who made it: "HBCe" and "HBCi". <https://sqlite.org/fileformat.html#application_id>
    var applicationID: Int32 {
      switch self {
      case .embedded: 0x4842_4365
      case .imported: 0x4842_4369
      }
    }

    /// The kind of a header's number; nil for a file of something else.
    init?(applicationID: Int32) {
      guard
        let kind = [Self.embedded, .imported].first(where: { $0.applicationID == applicationID })
      else { return nil }
      self = kind
    }
  }

  /// Who made it.
  package let kind: Kind
  /// The digest of the embedded hotels, or the name of the file that was imported.
  package let name: String
  /// How many hotels it has.
  package let rows: Int
  /// When it was made, by the clock of whoever made it.
  package let date: Timestamp

  /// An origin.
  package init(kind: Kind, name: String, rows: Int, date: Timestamp) {
    self.kind = kind
    self.name = name
    self.rows = rows
    self.date = date
  }
}
