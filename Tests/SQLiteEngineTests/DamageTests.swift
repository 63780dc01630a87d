import Foundation
import SQLite
import SQLiteEngine
import StoreTesting
import Stores
import TestSupport
import Testing

/// F09 to F16: a store whose file has changed gives an error, and never opens as an empty store.
@Suite struct DamageTests {
  /// Makes a data directory with two closed stores of 40 documents each.
  private func prepared() async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    for number in 1...2 {
      let storage = try await engine.store(user(number))
      for document in 0..<40 {
        try await storage.put("document-\(document)", #"{"type":"hotel","store":\#(number)}"#)
      }
      await storage.close()
    }
    await engine.close()
    return directory
  }

  /// Changes the first store's file and opens the store. The second store must still open.
  /// - Returns: the code of the error; nil if the first store opens.
  private func refusal(
    _ change: (_ path: String, _ directory: TemporaryDirectory) throws -> Void
  ) async throws -> ServiceError.Code? {
    let directory = try await prepared()
    let file = try path(of: user(1), in: directory)
    try change(file, directory)
    let engine = try await FileEngine.open(directory: directory.path)
    let refusals = [
      try await engine.refusal(of: user(1)), try await engine.refusal(of: user(1), creating: false),
    ]
    #expect(refusals[0] == refusals[1])
    #expect(try await engine.refusal(of: user(2), creating: false) == nil)
    await engine.close()
    return refusals[0]
  }

  @Test(.bug(id: "F11")) func emptyFileIsDamaged() async throws {
    #expect(try await refusal { file, _ in try write([], to: file) } == .damaged)
  }

  @Test(.bug(id: "F11")) func missingFileIsDamaged() async throws {
    #expect(try await refusal { file, _ in try remove(file) } == .damaged)
  }

  @Test(.bug(id: "F12")) func garbageHeaderIsDamaged() async throws {
    let code = try await refusal { file, _ in
      var bytes = try contents(file)
      for index in 0..<100 { bytes[index] = UInt8(index) }
      try write(bytes, to: file)
    }
    #expect(code == .damaged)
  }

  @Test(.bug(id: "F12")) func garbagePageIsDamaged() async throws {
    for page in 1..<7 {
      let code = try await refusal { file, _ in
        var bytes = try contents(file)
        for index in 0..<4_096 where page * 4_096 + index < bytes.count {
          bytes[page * 4_096 + index] = UInt8(truncatingIfNeeded: index &* 7)
        }
        try write(bytes, to: file)
      }
      #expect(code == .damaged, "page \(page + 1)")
    }
  }

  @Test(.bug(id: "F12"), arguments: [50, 600, 4_096, 10_000, 20_480])
  func truncatedFileIsDamaged(size: Int) async throws {
    let code = try await refusal { file, _ in
      try write(Array(try contents(file).prefix(size)), to: file)
    }
    #expect(code == .damaged)
  }

  @Test(.bug(id: "F14")) func swappedFileIsDamaged() async throws {
    let code = try await refusal { file, directory in
      try write(try contents(try path(of: user(2), in: directory)), to: file)
    }
    #expect(code == .damaged)
  }

  @Test func fileOfAnEarlierLifeIsDamaged() async throws {
    let directory = try await prepared()
    let file = try path(of: user(1), in: directory)
    let earlier = try contents(file)
    var engine = try await FileEngine.open(directory: directory.path)
    #expect(try await engine.erase(user(1)))
    await (try await engine.store(user(1))).close()
    await engine.close()
    try write(earlier, to: file)
    engine = try await FileEngine.open(directory: directory.path)
    #expect(try await engine.refusal(of: user(1)) == .damaged)
    await engine.close()
  }

  @Test(.bug(id: "F15")) func rollbackJournalBesideTheFileIsNeverPlayedBack() async throws {
    let code = try await refusal { file, _ in
      try write([UInt8](repeating: 0xD9, count: 512), to: file + "-journal")
    }
    #expect(code == .damaged)
  }

  @Test(.bug(id: "F15")) func leftOverIndexOfALogIsIgnored() async throws {
    let code = try await refusal { file, _ in
      try write([UInt8](repeating: 0x5A, count: 32_768), to: file + "-shm")
    }
    #expect(code == nil)
  }

  @Test func symbolicLinkIsRefused() async throws {
    let code = try await refusal { file, directory in
      let elsewhere = directory.path + "/elsewhere.sqlite"
      try FileManager.default.moveItem(atPath: file, toPath: elsewhere)
      try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: elsewhere)
    }
    #expect(code == .damaged)
  }

  @Test(.bug(id: "F16")) func fileThatCannotBeReachedIsUnavailableAndNeverAbsent() async throws {
    let code = try await refusal { file, _ in
      let directory = (file as NSString).deletingLastPathComponent
      try remove(directory)
      try write([1], to: directory)
    }
    #expect(code == .unavailable)
  }

  @Test(.bug(id: "F13")) func damagedBodyIsAnIntegrityErrorAndTheOthersAreRead() async throws {
    let directory = try await prepared()
    let file = try path(of: user(1), in: directory)
    var bytes = try contents(file)
    let needle = Array(#"{"type":"hotel","store":1}"#.utf8)
    let index = try #require(
      bytes.indices.dropLast(needle.count).first {
        bytes[$0..<$0 + needle.count].elementsEqual(needle)
      })
    bytes[index + 10] ^= 1
    try write(bytes, to: file)
    let engine = try await FileEngine.open(directory: directory.path)
    let storage = try await engine.store(user(1))
    var failures = 0
    for document in 0..<40 {
      do throws(any Error) {
        #expect(
          try await storage.body("document-\(document)") == String(decoding: needle, as: UTF8.self))
      } catch let error as ServiceError {
        #expect(error.code == .integrity)
        failures += 1
      }
    }
    #expect(failures == 1)
    await storage.close()
    await engine.close()
  }

  @Test func damagedRowsHideNoOthers() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    for (number, isPiece) in [(1, false), (2, true)] {
      let storage = try await engine.store(user(number))
      let check =
        isPiece ? StorageConformance.requireReplacement : StorageConformance.requireReach
      let damaged = try await check(storage) {
        await storage.close()
        let file = try Connection(path: path(of: user(number), in: directory), mode: .readWrite)
        try file.execute("UPDATE documents SET body = x'00' WHERE id = 'b'")
        try file.execute("UPDATE locals SET body = x'00' WHERE id LIKE '%/b'")
        try file.execute(
          "UPDATE locals SET body = zeroblob(length(body)) WHERE id LIKE 'receipt/piece/%'")
        try file.close()
        return try await engine.store(user(number))
      }
      await damaged.close()
    }
    await engine.close()
  }
}
