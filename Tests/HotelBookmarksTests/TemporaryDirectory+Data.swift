import SQLiteEngine
import TestSupport

extension TemporaryDirectory {
  /// Makes a data directory, as the first start of a server does.
  static func withData() async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    await (try FileEngine.open(directory: directory.path)).close()
    return directory
  }
}
