import Documents
import Glibc
import SQLite

/// The directory in which a backup is written before it has its name.
///
/// Whoever writes it holds a lock on the directory (`flock(2)`), which ends with the process however that ends:
/// a draft without a lock is what a kill or a power failure left behind.
struct BackupDraft {
  private let path: String
  private let descriptor: Int32

  private static let mark = ".partial-"
  private static let digits = 8
  /// How a manifest begins.
  private static let beginning = Array(#"{"backup":"#.utf8)

  /// A path beside a backup's name, another each time.
  static func path(of place: String) -> String {
    var generator = SystemRandomNumberGenerator()
    return place + mark + Hex.string(generator.next(), 0).prefix(digits)
  }

  /// Makes a draft with an empty manifest, readable by its owner alone.
  init(at path: String) throws(SystemError) {
    self.path = path
    try Disk.makeDirectory(path)
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    // Where a file system knows no locks nobody gets one, so that nobody removes it either.
    if descriptor >= 0 { _ = flock(descriptor, LOCK_EX | LOCK_NB) }
    do throws(SystemError) {
      // The lock comes before the manifest, without which it is no draft to others.
      try Disk.write([], to: path + "/" + BackupManifest.name + ".new")
      try Disk.makeDirectory(path + "/" + DataDirectory.storesName)
    } catch {
      remove()
      throw error
    }
  }

  /// Lets go of it once it has its name.
  func release() {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Removes it and all in it.
  func remove() {
    try? Disk.removeTree(path)
    release()
  }

  /// Removes the drafts in a directory that nobody writes any more. What is not a draft for certain stays, as
  /// does what can't be removed: a backup does not fail for it.
  static func removeAbandoned(in directory: String) {
    guard let names = try? Disk.names(in: directory) else { return }
    for name in names where isName(name) {
      let path = directory + "/" + name
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isDraft(path) else { continue }
      try? Disk.removeTree(path)
    }
  }

  /// Whether a name is that of a draft: `NAME.partial-` and eight hex digits.
  private static func isName(_ name: String) -> Bool {
    let bytes = name.utf8
    let end = bytes.suffix(digits)
    return bytes.dropLast(digits).suffix(mark.utf8.count).elementsEqual(mark.utf8)
      && end.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Whether a directory is this user's and holds a backup's files alone, a manifest among them.
  private static func isDraft(_ path: String) -> Bool {
    guard (try? Disk.entry(at: path))?.owner == geteuid(),
      let names = try? Disk.names(in: path)
    else { return false }
    let manifests = [BackupManifest.name, BackupManifest.name + ".new"]
    let known =
      manifests + [DataDirectory.storesName] + BackupManifest.Extra.allCases.map(\.rawValue)
    let found = names.filter { name in manifests.contains { $0.equalsBytes(of: name) } }
    guard names.allSatisfy({ name in known.contains { $0.equalsBytes(of: name) } }),
      found.count == 1,
      let bytes = try? Disk.contents(of: path + "/" + found[0], atMost: beginning.count)
    else { return false }
    return bytes.isEmpty || bytes == beginning
  }
}
