import Foundation
import TestSupport

extension TemporaryDirectory {
  /// The paths of all files below, relative.
  func files() -> [String] {
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      var isDirectory: ObjCBool = false
      let exists = FileManager.default.fileExists(
        atPath: path + "/" + name, isDirectory: &isDirectory)
      return exists && !isDirectory.boolValue
    }.sorted()
  }

  /// A copy of all files as they are now, the lock and what holds room left out: what a crash at this moment would leave.
  func copy() throws -> TemporaryDirectory {
    let copy = try TemporaryDirectory()
    for name in files() where !["lock", "reserve"].contains(name) {
      let target = copy.path + "/" + name
      try FileManager.default.createDirectory(
        atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      // A log's index is not read after a crash, and a draft may be renamed while this looks at it.
      guard !name.hasSuffix("-shm"),
        let bytes = FileManager.default.contents(atPath: path + "/" + name)
      else { continue }
      try bytes.write(to: URL(fileURLWithPath: target))
    }
    return copy
  }
}
