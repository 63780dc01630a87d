import Foundation
import TestSupport

extension TemporaryDirectory {
  /// The relative paths of all files in the directory and below, in order.
  func files() -> [String] {
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      var isDirectory: ObjCBool = false
      let exists = FileManager.default.fileExists(
        atPath: path + "/" + name, isDirectory: &isDirectory)
      return exists && !isDirectory.boolValue
    }.sorted()
  }

  /// A copy of all files that a crash at this moment would leave, without the lock and the file that reserves disk
  /// space.
  func copy() throws -> TemporaryDirectory {
    let copy = try TemporaryDirectory()
    for name in files() where !["lock", "reserve"].contains(name) {
      let target = copy.path + "/" + name
      try FileManager.default.createDirectory(
        atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      // The index of a write-ahead log is not read after a crash. A temporary file may be renamed before it is read.
      guard !name.hasSuffix("-shm"),
        let bytes = FileManager.default.contents(atPath: path + "/" + name)
      else { continue }
      try bytes.write(to: URL(fileURLWithPath: target))
    }
    return copy
  }
}
