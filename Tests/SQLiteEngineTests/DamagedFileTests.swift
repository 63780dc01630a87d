import Documents
import Scheduling
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// A damaged file is set aside, and its own rows, a backup's copy or nothing takes its place.
@Suite struct DamagedFileTests {
  private static let count = 120

  /// Makes a directory with a closed store of a few dozen pages. Some documents have overflow pages, one has former
  /// bodies.
  private func filled(_ name: StoreName) async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let store = try await engine.store(name)
    for number in 0..<Self.count {
      let text = String(repeating: "x", count: number % 10 == 0 ? 9_000 : 200)
      try await store.put(
        "document-\(number)", #"{"type":"hotel","n":\#(number),"text":"\#(text)"}"#)
    }
    var base: RevisionID?
    for number in 0..<6 { base = try await store.put("edited", #"{"n":\#(number)}"#, base: base) }
    await store.close()
    await engine.close()
    return directory
  }

  private func with<Value>(
    _ directory: TemporaryDirectory, _ body: (FileEngine) async throws -> Value
  ) async throws -> Value {
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let value = try await body(engine)
    await engine.close()
    return value
  }

  /// Replaces the file of a closed store.
  /// - Returns: why it was not replaced.
  private func replace(
    _ name: StoreName, in directory: TemporaryDirectory, by replacement: FileEngine.Replacement
  ) async throws -> (any Error)? {
    let threads = ThreadPool(name: "repair")
    let failure: (any Error)? = try await with(directory) { engine in
      do {
        try await engine.replaceDamaged(name, by: replacement, on: threads)
        return nil
      } catch { return error }
    }
    await threads.stop()
    return failure
  }

  /// Makes a backup of the closed store.
  private func backUp(_ name: StoreName, of directory: TemporaryDirectory) async throws -> String {
    let backup = directory.path + ".backup"
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try #require(try await engine.open(name, creating: false))
    let threads = ThreadPool(name: "backup")
    let writer = Confined(BackupWriter(to: backup), to: threads)
    try await writer.run { try $0.begin(made: Timestamp(milliseconds: 8), by: "test") }
    let path = try await writer.run { try $0.draftPath(of: name) }
    let epoch = try await engine.copy(storage, to: path)
    try await writer.run { try $0.add(name, epoch: epoch) }
    _ = try await writer.finish()
    await threads.stop()
    await storage.close()
    await engine.close()
    return backup
  }

  private func overwrite(_ page: Int, of file: String) throws {
    var bytes = try contents(file)
    for index in (page - 1) * 4_096..<min(page * 4_096, bytes.count) {
      bytes[index] = UInt8(truncatingIfNeeded: index &* 167 &+ page)
    }
    try write(bytes, to: file)
  }

  private func info(
    _ name: StoreName, in directory: TemporaryDirectory
  ) async throws -> StoreInfo {
    try await with(directory) { engine in
      let store = try #require(try await engine.open(name, creating: false))
      let info = try await store.info()
      await store.close()
      return info
    }
  }

  private func code(_ error: (any Error)?) -> ServiceError.Code? {
    error.flatMap { ServiceError($0) }?.code
  }

  @Test(.bug(id: "F12")) func copyOfABackupTakesThePlaceOfADamagedFileWhichIsKept() async throws {
    let name = try user(1)
    let directory = try await filled(name)
    let backup = try await backUp(name, of: directory)
    defer { try? remove(backup) }
    let file = try path(of: name, in: directory)
    try overwrite(1, of: file)
    let damaged = try contents(file)
    #expect(try await replace(name, in: directory, by: .backup(backup)) == nil)
    #expect(try await info(name, in: directory).documentCount == Int64(Self.count) + 1)
    #expect(try contents(file + ".damaged") == damaged)
    let findings = Findings()
    _ = try DirectoryScrub().run(directory.path, findings.reporter)
    #expect(findings.all == [])
  }

  @Test func backupWithoutASoundCopyLeavesTheDamagedFileInItsPlace() async throws {
    let (name, other) = (try user(1), try user(2))
    let directory = try await filled(name)
    let backup = try await backUp(name, of: directory)
    defer { try? remove(backup) }
    try await with(directory) { engine in await (try await engine.store(other)).close() }
    let file = try path(of: name, in: directory)
    try overwrite(1, of: file)
    let damaged = try contents(file)
    try overwrite(3, of: BackupManifest.file(of: name, in: backup).path)
    #expect(code(try await replace(name, in: directory, by: .backup(backup))) == .damaged)
    #expect(try contents(file) == damaged)
    let failure = try await replace(other, in: directory, by: .backup(backup))
    #expect((failure as? BackupError)?.code == .damaged)
    #expect(try await info(other, in: directory).documentCount == 0)
    #expect(!directory.files().contains { $0.hasSuffix(".damaged") || $0.hasSuffix(".new") })
  }

  @Test(.bug(id: "F11"), arguments: [true, false])
  func storeBegunAnewIsAnotherLifeAndKeepsWhatWasThere(isThere: Bool) async throws {
    let name = try user(1)
    let directory = try await filled(name)
    let epoch = try await info(name, in: directory).epoch
    let file = try path(of: name, in: directory)
    if isThere { try overwrite(1, of: file) } else { try remove(file) }
    #expect(try await replace(name, in: directory, by: .nothing) == nil)
    let info = try await info(name, in: directory)
    #expect(info.documentCount == 0 && info.epoch != epoch)
    #expect(directory.files().contains { $0.hasSuffix(".damaged") } == isThere)
    let wasThere = try await with(directory) { engine in try await engine.erase(name) }
    #expect(wasThere && !directory.files().contains { $0.contains(".damaged") })
  }

  @Test func absentOrErasedStoreIsNotBegunAnew() async throws {
    let (absent, erased) = (try user(1), try user(2))
    let directory = try TemporaryDirectory()
    try await with(directory) { engine in
      await (try await engine.store(erased)).close()
      try await engine.registry.set(.init(epoch: "1", isErasing: true), for: erased.key)
    }
    for name in [absent, erased] {
      #expect(code(try await replace(name, in: directory, by: .nothing)) == .absent)
      let isThere = try await with(directory) { engine in
        try await engine.open(name, creating: false) != nil
      }
      #expect(!isThere)
    }
  }

  /// The count of the free pages is wrong, which no index depends on.
  @Test(.bug(id: "F12"), arguments: [false, true])
  func fileWhoseRowsCanAllBeReadIsWrittenAgainFromThem(isAccounts: Bool) async throws {
    let name = isAccounts ? StoreName.system : try user(1)
    let directory = try await filled(name)
    let before = try await info(name, in: directory)
    let file = try path(of: name, in: directory)
    var bytes = try contents(file)
    bytes[39] ^= 3
    try write(bytes, to: file)
    #expect(try await with(directory) { engine in await engine.refusal(of: name) } == .damaged)
    #expect(try await replace(name, in: directory, by: .ownRows) == nil)
    #expect(try await info(name, in: directory) == before)
    let findings = Findings()
    _ = try DirectoryScrub().run(directory.path, findings.reporter)
    #expect(findings.all == [])
  }

  @Test(.bug(id: "F12"))
  func fileOfWhichRowsAreLostIsNeverWrittenAgainFromTheOthers() async throws {
    let name = StoreName.system
    let sound = try await filled(name)
    let size = try contents(try path(of: name, in: sound)).count
    var refused = 0
    for page in stride(from: 1, through: size / 4_096, by: 5) {
      let directory = try sound.copy()
      let file = try path(of: name, in: directory)
      try overwrite(page, of: file)
      let damaged = try contents(file)
      guard let failure = try await replace(name, in: directory, by: .ownRows) else {
        #expect(try await info(name, in: directory).documentCount == Int64(Self.count) + 1)
        continue
      }
      #expect(code(failure) == .damaged, "page \(page): \(failure)")
      #expect(try contents(file) == damaged)
      refused += 1
    }
    #expect(refused > 1)
  }

  @Test(.bug(id: "F15")) func logOfAnotherStoreIsSetAsideUnread() async throws {
    let (name, other) = (try user(1), try user(2))
    let directory = try await filled(name)
    let log = try await with(directory) { engine in
      let store = try await engine.store(other)
      let logPath = try path(of: other, in: directory) + "-wal"
      try await store.put("first", #"{"n":0}"#)
      // The log of a new file is emptied soon after its first commit.
      while try !contents(logPath).isEmpty { await Task.yield() }
      try await store.put("secret", #"{"n":1}"#)
      let log = try contents(logPath)
      await store.close()
      return log
    }
    let file = try path(of: name, in: directory)
    try write(log, to: file + "-wal")
    #expect(code(try await replace(name, in: directory, by: .ownRows)) == .damaged)
    #expect(try await with(directory) { engine in await engine.refusal(of: name) } == .damaged)
    #expect(try await replace(name, in: directory, by: .nothing) == nil)
    #expect(try await info(name, in: directory).documentCount == 0)
    #expect(try contents(file + ".damaged-wal") == log)
    let wasThere = try await with(directory) { engine in try await engine.erase(name) }
    #expect(wasThere && !directory.files().contains { $0.contains(".damaged") })
  }

  /// As when the process stops after the new file has its name and before it is registered.
  @Test func storeOfWhichTheRegistryKnowsAnotherLifeCanBeReplacedAgain() async throws {
    let name = try user(1)
    let directory = try await filled(name)
    try await with(directory) { engine in
      try await engine.registry.set(.init(epoch: "another"), for: name.key)
    }
    #expect(code(try await replace(name, in: directory, by: .ownRows)) == .damaged)
    #expect(try await replace(name, in: directory, by: .nothing) == nil)
    #expect(try await info(name, in: directory).documentCount == 0)
  }
}
