private import Crypto
import Documents
import SQLite
import Stores

extension DirectoryScrub {
  /// Looks through a backup: the manifest, every file's size and checksum, and every store as in a data
  /// directory.
  func backup(
    _ path: String, _ reporter: ScrubReporter
  ) throws(DataDirectoryError) -> ScrubCounts {
    var counts = ScrubCounts()
    func find(_ file: String, _ reason: String) {
      counts.findings += 1
      reporter.finding(ScrubFinding(file: file, reason: reason))
    }
    do throws(BackupError) {
      let total = try BackupManifest.read(in: path).count
      var done = 0
      try BackupManifest.read(in: path) { entry in
        done += 1
        switch entry {
        case .store(let name, let epoch, let sum):
          let (file, place) = (
            BackupManifest.file(of: name, in: path), BackupManifest.place(of: name)
          )
          if let reason = Self.difference(file.path, sum) { find(place, reason) }
          counts += StoreScrub.run(
            file, of: .init(key: name.key, epoch: epoch), as: blank, name: place, reporter)
        case .file(let extra, let sum):
          if let reason = Self.difference(path + "/" + extra.rawValue, sum) {
            find(extra.rawValue, reason)
          }
        case .missing(let name, let reason):
          find(BackupManifest.place(of: name), "was damaged when the backup was made: " + reason)
        }
        reporter.progress(done, total)
      }
    } catch {
      guard error.code != .newerFormat else {
        throw DataDirectoryError(.newerFormat, error.reason)
      }
      find(BackupManifest.name, error.reason)
    }
    return counts
  }

  /// How a file is not what the manifest says; nil if it is.
  private static func difference(_ path: String, _ sum: BackupManifest.Sum) -> String? {
    do throws(SystemError) {
      guard let found = try BackupManifest.sum(of: path) else { return "the file is missing" }
      guard found.bytes == sum.bytes else {
        return "the file has \(found.bytes) bytes, the manifest says \(sum.bytes)"
      }
      return found.digest == sum.digest ? nil : "the file fails its checksum"
    } catch { return error.debugDescription }
  }
}

extension BackupManifest {
  /// A file's size and checksum; nil when there is no file.
  static func sum(of path: String) throws(SystemError) -> Sum? {
    var hash = SHA256()
    var bytes: Int64 = 0
    let isThere = try Disk.read(path, piece: 1 << 18) { piece in
      hash.update(data: piece)
      bytes += Int64(piece.count)
      return true
    }
    guard isThere else { return nil }
    return Sum(bytes: bytes, digest: Hex.string(Array(hash.finalize())))
  }
}
