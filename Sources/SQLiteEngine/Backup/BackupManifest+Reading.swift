private import Crypto
import Documents
import Stores

extension BackupManifest {
  /// Reads a whole manifest, line by line; bounded memory whatever its size.
  ///
  /// The lines are visited before the last one, which vouches for them, is known: read once for nothing
  /// before anything is made of them.
  /// - Parameter visit: takes each line between the first and the last; what it throws ends the reading.
  /// - Returns: the first line.
  /// - Throws: `damaged`, `newerFormat`, `unreachable`; what `visit` throws.
  @discardableResult
  static func read(
    in backup: String, _ visit: (Entry) throws(BackupError) -> Void = { _ in }
  ) throws(BackupError) -> (header: Header, count: Int) {
    var reading = Reading()
    var failure: BackupError?
    let isThere = try backing { () throws(SystemError) in
      try Disk.read(backup + "/" + name) { piece in
        do throws(BackupError) { try reading.take(piece, visit) } catch { failure = error }
        return failure == nil
      }
    }
    if let failure { throw failure }
    guard isThere else { throw BackupError(.damaged, "\(backup) is no backup: it has no manifest") }
    return try reading.finished()
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
      guard format <= BackupManifest.format, schema <= Int(Schema.store.version) else {
        throw BackupError(
          .newerFormat,
          "The backup was made by a newer version of this service (\(by)): its format is \(format).\(schema), "
            + "this version knows \(BackupManifest.format).\(Schema.store.version)")
      }
      return Header(schema: schema, made: made, by: by)
    }

    func finished() throws(BackupError) -> (header: Header, count: Int) {
      guard isAtEnd, rest.isEmpty, let header else { throw Self.damaged }
      return (header, count)
    }

    static let damaged = BackupError(
      .damaged, "The backup's manifest is damaged or cut short")
  }
}
