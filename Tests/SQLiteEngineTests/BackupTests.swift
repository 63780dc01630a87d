import Documents
import Foundation
import SQLite
import Scheduling
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite struct BackupTests {
  private let made = Timestamp(milliseconds: 1_000_000)

  /// Makes a backup of an engine's stores, as the service does.
  private func backUp(
    _ engine: FileEngine, _ stores: [(StoreName, any StoreStorage)], to path: String
  ) async throws {
    let (threads, made) = (ThreadPool(name: "backup"), made)
    let writer = Confined(BackupWriter(to: path), to: threads)
    try await writer.run { try $0.begin(made: made, by: "test") }
    for (name, storage) in stores {
      let draft = try await writer.run { try $0.draftPath(of: name) }
      let epoch = try await engine.copy(storage, to: draft)
      try await writer.run { try $0.add(name, epoch: epoch) }
    }
    try await writer.run { try $0.add(.erasures, from: engine.path) }
    _ = try await writer.finish()
    await threads.stop()
  }

  /// Restores a backup into a directory.
  private func restore(
    _ backup: String, to path: String, erasures: [String] = []
  ) async throws -> Restoration.Summary {
    let threads = ThreadPool(name: "restore")
    defer { Task { await threads.stop() } }
    let restoration = try await Restoration.begin(
      from: backup, into: path, on: threads, Findings().reporter)
    let summary = try await restoration.copy()
    try await restoration.synchronize()
    _ = try await restoration.takeErasures(from: erasures)
    try await restoration.finish()
    return summary
  }

  /// Makes a data directory with one store of 50 documents, and a backup of it.
  /// - Returns: the backup's path.
  private func prepared(_ directory: TemporaryDirectory) async throws -> String {
    let engine = try await FileEngine.open(directory: directory.path + "/data")
    let storage = try await engine.store(user(1))
    for number in 0..<50 { try await storage.put("document-\(number)", #"{"type":"hotel"}"#) }
    try await backUp(engine, [(user(1), storage)], to: directory.path + "/backup")
    await storage.close()
    await engine.close()
    return directory.path + "/backup"
  }

  private func refusal(_ backup: String, into path: String) async -> BackupError.Code? {
    do {
      _ = try await restore(backup, to: path)
      return nil
    } catch { return (error as? BackupError)?.code }
  }

  @Test(.bug(id: "F25")) func copyUnderWritersIsOneInstant() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path + "/data")
    let storage = try await engine.store(user(1))
    let filler = String(repeating: "x", count: 2_000)
    for number in 0..<600 { try await storage.put("old-\(number)", #"{"x":"\#(filler)"}"#) }
    let before = try await storage.info().lastSequence
    let writer = Task {
      for number in 0..<400 { try await storage.put("new-\(number)", #"{"x":"\#(filler)"}"#) }
    }
    try await backUp(engine, [(user(1), storage)], to: directory.path + "/backup")
    let after = try await storage.info().lastSequence
    try await writer.value
    await storage.close()
    await engine.close()
    let findings = Findings()
    _ = try DirectoryScrub().run(directory.path + "/backup", findings.reporter)
    #expect(findings.all == [])
    _ = try await restore(directory.path + "/backup", to: directory.path + "/restored")
    let restored = try await FileEngine.open(directory: directory.path + "/restored")
    let copy = try #require(try await restored.open(user(1), creating: false))
    let info = try await copy.info()
    #expect((before...after).contains(info.lastSequence))
    // The writer wrote one document at a time, so a snapshot contains all writes up to one and none after it.
    #expect(info.documentCount == info.lastSequence)
    let changes = try await copy.read { view in
      try view.changes(after: 0, limit: 2_000)
    }
    #expect(changes.map(\.sequence) == Array(1...info.lastSequence))
    await copy.close()
    await restored.close()
  }

  @Test(.bug(id: "F25")) func restoredStoreBeginsANewLife() async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    let summary = try await restore(backup, to: directory.path + "/restored")
    #expect(summary.stores == 1 && summary.missing == 0 && summary.findings == 0)
    var epochs: [String] = []
    for path in ["/data", "/restored"] {
      let engine = try await FileEngine.open(directory: directory.path + path)
      let storage = try #require(try await engine.open(user(1), creating: false))
      epochs.append(try await storage.info().epoch)
      #expect(try await storage.info().documentCount == 50)
      await storage.close()
      await engine.close()
    }
    #expect(epochs[0] != epochs[1])
    #expect(
      try DirectoryScrub().run(directory.path + "/restored", Findings().reporter).findings == 0)
  }

  /// Regression: a server wrote into the backup, and told the operator to repair it.
  @Test func backupIsNoDataDirectory() async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    let names = try Set(FileManager.default.contentsOfDirectory(atPath: backup))
    let uses: [() async throws -> Void] = [
      { await (try await FileEngine.open(directory: backup)).close() },
      { try FileEngine.requireDirectory(backup) }, { try FileEngine.prepareDirectory(backup) },
      { _ = try RegistryRebuild.run(backup) }, { _ = try await NodeDirectory.open(backup) },
    ]
    for use in uses {
      let error = await #expect(throws: DataDirectoryError.self) { try await use() }
      #expect(error?.code == .noData)
      #expect(error?.reason.contains("is a backup; restore it: hotel-bookmarks restore ") == true)
    }
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: backup)) == names)
  }

  @Test func restoringIntoADirectoryThatIsNotEmptyIsRefused() async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    #expect(await refusal(backup, into: directory.path + "/data") == .occupied)
    #expect(await refusal(directory.path + "/data", into: directory.path + "/new") == .damaged)
  }

  @Test func manifestThatIsCutOrChangedIsRefused() async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    let sound = try contents(backup + "/manifest.ndjson")
    var generator = SystemRandomNumberGenerator()
    for number in 0..<20 {
      var bytes = sound
      if number < 10 {
        bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)))
      } else {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1
      }
      try write(bytes, to: backup + "/manifest.ndjson")
      let code = await refusal(backup, into: directory.path + "/restored")
      #expect(code == .damaged || code == .otherFormat, "\(String(decoding: bytes, as: UTF8.self))")
      #expect(try contents(directory.path + "/data/registry.sqlite").count > 0)
    }
  }

  @Test(
    .bug(id: "F27"),
    arguments: [
      (
        #"{"backup":2,"schema":10,"#,
        "The backup was made by a newer version of this service: its format is 2, this version needs "
          + "1. Start the version that wrote it, or a later one (test)"
      ),
      (
        #"{"backup":1,"schema":11,"#,
        "The backup was made by a newer version of this service: its format is 11, this version needs "
          + "10. Start the version that wrote it, or a later one (test)"
      ),
      (
        #"{"backup":1,"schema":8,"#,
        "The backup was made by an earlier version of this service: its format is 8, this version "
          + "needs 10. Export each account with the version that wrote it, and import it here (test)"
      ),
    ] as [(String, String)])
  func backupOfAnotherVersionIsRefused(_ beginning: String, _ reason: String) async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    let text = String(decoding: try contents(backup + "/manifest.ndjson"), as: UTF8.self)
    let other = text.replacing(#"{"backup":1,"schema":10,"#, with: beginning)
    #expect(other != text)
    try write(Array(other.utf8), to: backup + "/manifest.ndjson")
    #expect(await refusal(backup, into: directory.path + "/restored") == .otherFormat)
    do throws(DataDirectoryError) {
      _ = try DirectoryScrub().run(backup, Findings().reporter)
      Issue.record("was looked through")
    } catch {
      #expect(error.code == .otherFormat)
      #expect(error.reason == reason)
    }
  }

  @Test func damagedCopyIsFoundAndNeverAnEmptyStore() async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    let file = BackupManifest.file(of: try user(1), in: backup).path
    var bytes = try contents(file)
    bytes[bytes.count / 2] ^= 1
    try write(bytes, to: file)
    let findings = Findings()
    _ = try DirectoryScrub().run(backup, findings.reporter)
    #expect(findings.all.contains { $0.reason == "the file fails its checksum" })
    let summary = try await restore(backup, to: directory.path + "/restored")
    #expect(summary.missing == 1 && summary.findings == 1)
    let engine = try await FileEngine.open(directory: directory.path + "/restored")
    #expect(try await engine.refusal(of: user(1)) == .damaged)
    await engine.close()
  }

  @Test(.bug(id: "F04")) func directoryOfARestorationThatWasCutShortIsRefused() async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    let threads = ThreadPool(name: "restore")
    let path = directory.path + "/restored"
    let restoration = try await Restoration.begin(
      from: backup, into: path, on: threads, Findings().reporter)
    _ = try await restoration.copy()
    let crashed = try TemporaryDirectory()
    try FileManager.default.removeItem(atPath: crashed.path)
    try FileManager.default.copyItem(atPath: path, toPath: crashed.path)
    do throws(DataDirectoryError) {
      _ = try await FileEngine.open(directory: crashed.path)
      Issue.record("was opened")
    } catch { #expect(error.code == .unfinishedRestore) }
    await restoration.abandon()
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["lock"])
    await threads.stop()
  }

  @Test(.bug(id: "F08")) func backupThatFailsLeavesNothing() async throws {
    let directory = try TemporaryDirectory()
    let (threads, made) = (ThreadPool(name: "backup"), made)
    let writer = Confined(BackupWriter(to: directory.path + "/backup"), to: threads)
    try await writer.run { try $0.begin(made: made, by: "test") }
    #expect(directory.files().count == 1)
    await writer.run { $0.abandon() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    await threads.stop()
  }

  @Test(.bug(id: "F08")) func draftThatIsWrittenStaysAndOneThatIsNotGoes() async throws {
    let directory = try TemporaryDirectory()
    let (threads, made) = (ThreadPool(name: "backup"), made)
    let running = Confined(BackupWriter(to: directory.path + "/one"), to: threads)
    try await running.run { try $0.begin(made: made, by: "test") }
    let abandoned = directory.path + "/old.partial-0123abcd"
    try FileManager.default.createDirectory(
      atPath: abandoned + "/stores/ab", withIntermediateDirectories: true)
    try Data(#"{"backup":1,"schema":3}"#.utf8).write(
      to: URL(fileURLWithPath: abandoned + "/manifest.ndjson.new"))
    let foreign = directory.path + "/old.partial-0123abce"
    try FileManager.default.createDirectory(
      atPath: foreign, withIntermediateDirectories: true)
    try Data("{}".utf8).write(to: URL(fileURLWithPath: foreign + "/manifest.ndjson.new"))
    let next = Confined(BackupWriter(to: directory.path + "/other"), to: threads)
    try await next.run { try $0.begin(made: made, by: "test") }
    #expect(!FileManager.default.fileExists(atPath: abandoned))
    #expect(FileManager.default.fileExists(atPath: foreign))
    for writer in [running, next] { _ = try await writer.finish() }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        == ["old.partial-0123abce", "one", "other"])
    await threads.stop()
  }

  @Test(.bug(id: "F26")) func erasuresAreLoggedAndLogsAreJoined() async throws {
    let directory = try TemporaryDirectory()
    let backup = try await prepared(directory)
    let engine = try await FileEngine.open(directory: directory.path + "/data")
    guard case .user(let id) = try user(2) else { return }
    // A user who never had a store may have an account in the backup.
    for name in [try user(1), try user(2), .guest(id)] { try await engine.noteErasure(of: name) }
    #expect(try await engine.erase(user(1)))
    #expect(try await !engine.erase(user(2)))
    let named = StoreName.named(try #require(DatabaseName("plans")))
    await (try await engine.store(named)).close()
    try await engine.noteErasure(of: named)
    #expect(try await engine.erase(named))
    await engine.close()
    let threads = ThreadPool(name: "restore")
    let restoration = try await Restoration.begin(
      from: backup, into: directory.path + "/restored", on: threads, Findings().reporter)
    _ = try await restoration.copy()
    #expect(try await restoration.takeErasures(from: []) == [])
    // A directory of something else has no log, and that is not taken for a log without erasures.
    await #expect(throws: BackupError.self) {
      try await restoration.takeErasures(from: [directory.path])
    }
    #expect(try await restoration.takeErasures(from: [backup]) == [])
    // A log that a crash has cut short, and a copy of a log whose last line break was lost.
    try write(Array("user/01".utf8), to: restoration.draft + "/erasures.log")
    try write(Array("\n\(try user(3).key)".utf8), to: directory.path + "/edited")
    let erased = try await restoration.takeErasures(
      from: [directory.path + "/data", directory.path + "/edited"])
    #expect(Set(erased) == Set(try (1...3).map { try user($0).key }))
    try await restoration.finish()
    await threads.stop()
    var kept: [StoreName] = []
    _ = try ErasureLog.visit(directory.path + "/restored/erasures.log") { kept.append($0) }
    #expect(Set(kept) == Set(try (1...3).map { try user($0) }))
  }

  @Test func compactionUnderACopyMakesItBeginAgain() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path + "/data", threads: 1)
    let storage = try await engine.store(user(1))
    let filler = String(repeating: "x", count: 8_000)
    for number in 0..<400 { try await storage.put("document-\(number)", #"{"x":"\#(filler)"}"#) }
    for number in 0..<400 {
      let id = try DocumentID("document-\(number)")
      try await storage.update(loading: [id], at: made) { changes in
        changes.purge(Purge(id: id, tree: RevisionTree()))
      }
    }
    let copy = Task { () async -> ServiceError.Code? in
      do {
        _ = try await engine.copy(storage, to: directory.path + "/copy")
        return nil
      } catch { return ServiceError(error)?.code }
    }
    try await storage.compact()
    let code = await copy.value
    #expect(code == nil || code == .unavailable)
    try await storage.put("after", "{}")
    _ = try await engine.copy(storage, to: directory.path + "/copy")
    await storage.close()
    await engine.close()
  }
}
