private import Crypto
import Documents
package import Stores

/// The contents of a backup: `manifest.ndjson`, one JSON object a line.
///
/// ```
/// {"backup":1,"schema":9,"made":"…","by":"…"}
/// {"store":"user/…","epoch":"…","bytes":…,"sha256":"…"}
/// {"file":"keys.json","bytes":…,"sha256":"…"}
/// {"missing":"guest/…","reason":"…"}
/// {"end":3,"sha256":"…"}
/// ```
/// The last line has the number of the lines between the first and itself, and the SHA-256 of all lines before it. It
/// shows whether the manifest was cut short or changed. No line has a path: the path of a file follows from its kind
/// and its store.
package enum BackupManifest {
  /// The version of the layout.
  static let format = 1
  /// The file's name. It is written last; a directory without it is no backup.
  package static let name = "manifest.ndjson"
  /// The longest line, in bytes.
  static let maximumLine = 4_096

  /// The files that a backup may contain besides stores.
  package enum Extra: String, Sendable, CaseIterable {
    /// The keys that sign tokens. Secret.
    case keys = "keys.json"
    /// The hash of the administrator's password. Secret.
    case administrator = "administrator.json"
    /// The hotels of the embedded upstream.
    case catalogue = "catalogue.sqlite"
    /// The log of erased stores.
    case erasures = "erasures.log"
  }

  /// The first line.
  package struct Header: Sendable, Equatable {
    /// The version of the stores' tables.
    package let schema: Int
    /// When the backup was begun, RFC 3339.
    package let made: String
    /// The version of the service that made it.
    package let by: String
  }

  /// A file's size and checksum.
  struct Sum: Sendable, Equatable {
    /// The size in bytes.
    let bytes: Int64
    /// SHA-256 in hex.
    let digest: String
  }

  /// A line between the first and the last.
  enum Entry: Sendable, Equatable {
    /// A store's copy.
    case store(StoreName, epoch: String, Sum)
    /// Another file.
    case file(Extra, Sum)
    /// A store that could not be copied because it is damaged.
    case missing(StoreName, reason: String)

    /// The line, with its line break.
    var line: [UInt8] {
      JSONWriter.line { writer in
        switch self {
        case .store(let name, let epoch, let sum):
          writer.member("store", name.key)
          writer.member("epoch", epoch)
          Self.write(sum, to: &writer)
        case .file(let extra, let sum):
          writer.member("file", extra.rawValue)
          Self.write(sum, to: &writer)
        case .missing(let name, let reason):
          writer.member("missing", name.key)
          writer.member("reason", reason)
        }
      }
    }

    private static func write(_ sum: Sum, to writer: inout JSONWriter) {
      writer.member("bytes", Int(clamping: sum.bytes))
      writer.member("sha256", sum.digest)
    }

    /// Reads a line; nil when it is no entry.
    init?(_ root: JSONNode) {
      let name = (root["store"] ?? root["missing"])?.string.flatMap { StoreName(key: $0) }
      if root["missing"] != nil {
        guard let name, let reason = root["reason"]?.string else { return nil }
        self = .missing(name, reason: reason)
        return
      }
      guard let bytes = root["bytes"]?.int, bytes >= 0, let digest = root["sha256"]?.string else {
        return nil
      }
      let sum = Sum(bytes: Int64(bytes), digest: digest)
      if root["store"] != nil {
        guard let name, let epoch = root["epoch"]?.string else { return nil }
        self = .store(name, epoch: epoch, sum)
      } else {
        guard let extra = root["file"]?.string.flatMap(Extra.init) else { return nil }
        self = .file(extra, sum)
      }
    }
  }

  /// The file of a store's copy. A backup has one level of directories for stores, because each directory must be
  /// synchronised.
  static func file(of name: StoreName, in backup: String) -> DatabaseFile {
    let file = DataDirectory.fileName(for: name.key)
    let outer = String(decoding: file.utf8.prefix(2), as: UTF8.self)
    return DatabaseFile(directory: "\(backup)/\(DataDirectory.storesName)/\(outer)", name: file)
  }

  /// The name of a store's copy in findings.
  package static func relativePath(of name: StoreName) -> String {
    let file = DataDirectory.fileName(for: name.key)
    return "\(DataDirectory.storesName)/\(file.prefix(2))/\(file)"
  }

  /// Whether a directory is a backup.
  static func isThere(in directory: String) throws(DataDirectoryError) -> Bool {
    do throws(SystemError) {
      return try Disk.entry(at: directory + "/" + name) != nil
    } catch { throw DataDirectory.unreachable(error) }
  }

  /// Reads a whole manifest line by line, in bounded memory.
  ///
  /// The lines are visited before the last line, which verifies them, has been read. A caller that acts on the lines
  /// first reads the manifest once without a visitor.
  /// - Parameter visit: receives each line between the first and the last. An error that it throws ends the reading.
  /// - Returns: the first line, and the number of lines between the first and the last.
  /// - Throws: `damaged`, `otherFormat`, `unreachable`; the errors of `visit`.
  @discardableResult
  static func read(
    in backup: String, _ visit: (Entry) throws(BackupError) -> Void = { _ in }
  ) throws(BackupError) -> (header: Header, count: Int) {
    var reading = Reading()
    var failure: BackupError?
    let isThere = try backing {
      try Disk.read(backup + "/" + name) { piece in
        do throws(BackupError) { try reading.take(piece, visit) } catch { failure = error }
        return failure == nil
      }
    }
    if let failure { throw failure }
    guard isThere else { throw BackupError(.damaged, "\(backup) is no backup: it has no manifest") }
    return try reading.finish()
  }

  /// What a backup's manifest says of a store's copy.
  /// - Throws: the errors of ``read(in:_:)``; `damaged` when the backup has no copy of the store.
  static func copy(
    of store: StoreName, in backup: String
  ) throws(BackupError) -> (epoch: String, sum: Sum) {
    var found: (epoch: String, sum: Sum)?
    try read(in: backup) { entry in
      if case .store(store, let epoch, let sum) = entry { found = (epoch, sum) }
    }
    guard let found else { throw BackupError(.damaged, "\(backup) has no copy of this store") }
    return found
  }

  /// A manifest that is being read.
  private struct Reading {
    var hash = SHA256()
    var rest: [UInt8] = []
    var header: Header?
    var count = 0
    var isAtEnd = false

    mutating func take(
      _ piece: ArraySlice<UInt8>, _ visit: (Entry) throws(BackupError) -> Void
    ) throws(BackupError) {
      rest += piece
      var start = rest.startIndex
      while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
        try line(Array(rest[start...end]), visit)
        start = end + 1
      }
      rest.removeSubrange(..<start)
      guard rest.count <= BackupManifest.maximumLine else { throw Self.damaged }
    }

    private mutating func line(
      _ line: [UInt8], _ visit: (Entry) throws(BackupError) -> Void
    ) throws(BackupError) {
      guard !isAtEnd, let root = try? ParsedJSON(line, limits: .small).root else {
        throw Self.damaged
      }
      if let end = root["end"]?.int {
        let digest = Hex.string(Array(hash.finalize()))
        guard end == count, root["sha256"]?.stringEquals(digest) ?? false else {
          throw Self.damaged
        }
        isAtEnd = true
        return
      }
      hash.update(data: line)
      guard header != nil else {
        header = try Self.header(root)
        return
      }
      guard let entry = Entry(root) else { throw Self.damaged }
      count += 1
      try visit(entry)
    }

    private static func header(_ root: JSONNode) throws(BackupError) -> Header {
      guard let format = root["backup"]?.int, let schema = root["schema"]?.int,
        let made = root["made"]?.string, let by = root["by"]?.string
      else { throw damaged }
      let (what, known) = ("The backup was made", Schema.store)
      let refusal =
        OtherVersion.refusal(of: what, format, BackupManifest.format, BackupManifest.format)
        ?? OtherVersion.refusal(of: what, schema, Int(known.base), Int(known.version))
      if let refusal { throw BackupError(.otherFormat, "\(refusal) (\(by))") }
      return Header(schema: schema, made: made, by: by)
    }

    func finish() throws(BackupError) -> (header: Header, count: Int) {
      guard isAtEnd, rest.isEmpty, let header else { throw Self.damaged }
      return (header, count)
    }

    static let damaged = BackupError(.damaged, "The backup's manifest is damaged or cut short")
  }
}
