import Documents
import Foundation
import SQLite
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite struct ScrubTests {
  /// Writes documents with histories, conflicts and tombstones, and local documents.
  private func fill(_ storage: any StoreStorage) async throws {
    for number in 0..<20 {
      try await storage.put("document-\(number)", #"{"type":"hotel","n":\#(number)}"#)
    }
    var base: RevisionID?
    for number in 0..<6 { base = try await storage.put("edited", #"{"n":\#(number)}"#, base: base) }
    try await storage.graft("document-3", ["2-b", "1-a"], #"{"type":"hotel","other":true}"#)
    let local = try LocalID(client: "_local/checkpoint")
    try await storage.update(loading: [], at: Timestamp(milliseconds: 5)) {
      changes in
      let document = LocalDocument(revision: 1, body: Array(#"{"last_seq":4}"#.utf8))
      changes.write(LocalEdit(local, document))
      let entry = IndexEntry(
        id: DocumentID(stored: "document-5"), key: [1], content: Array(#"{"n":5}"#.utf8))
      changes.write(
        .advance(IndexID("by-number"), documents: [entry.id], entries: [entry], sequence: 9))
    }
  }

  /// Makes a data directory with two closed stores.
  private func prepared() async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    for number in 1...2 {
      let storage = try await engine.store(user(number))
      try await fill(storage)
      await storage.close()
    }
    await engine.close()
    return directory
  }

  /// Changes a store's file by SQL that the engine never runs.
  private func change(
    _ name: StoreName, in directory: TemporaryDirectory, _ sql: StaticString
  ) throws {
    let connection = try Connection(path: path(of: name, in: directory), mode: .readWrite)
    try connection.execute(sql)
    try connection.close()
  }

  /// Regression: an entry whose key was no text ended every list of stores, and one that names no store ended a page.
  @Test func damagedKeyOfTheRegistryIsReportedBesideTheOtherStores() async throws {
    let directory = try TemporaryDirectory()
    var engine = try await FileEngine.open(directory: directory.path)
    for number in 1...4 { await (try await engine.store(user(number))).close() }
    await engine.close()
    let registry = try Connection(path: directory.path + "/registry.sqlite", mode: .readWrite)
    for (number, end) in [(1, [0xFF]), (2, [0x7A])] as [(Int, [UInt8])] {
      try registry.statement(
        "UPDATE stores SET key = CAST(CAST(key AS BLOB) || ?1 AS TEXT) WHERE key = ?2"
      ).run(.bytes(end), .text(user(number).key))
    }
    try registry.close()
    engine = try await FileEngine.open(directory: directory.path)
    var (names, last): ([StoreName], String?) = ([], nil)
    while let name = try await engine.names(in: "user", after: last, limit: 1).first {
      names.append(name)
      last = name.key
    }
    #expect(names == [try user(3), try user(4)])
    let reported = try await engine.registryFindings()
    #expect(reported.count == 1 && reported[0].reason.hasPrefix("2 damaged entries"))
    await engine.close()
    // Both stores' files are found without their entries, so both are checked.
    let found = try findings(in: directory)
    #expect(found.count == 2 && found.allSatisfy { $0.file == "registry.sqlite" })
    #expect(try RegistryRebuild.run(directory.path)?.entries == 4)
  }

  /// Regression: behind an id that was no text, no account was listed.
  @Test func idThatIsNoTextIsCountedAndPassedOver() async throws {
    let directory = try await prepared()
    try change(
      user(1), in: directory,
      "UPDATE documents SET id = CAST(x'646f63756d656e742d35ff' AS TEXT) WHERE id = 'document-5'")
    let engine = try await FileEngine.open(directory: directory.path)
    let storage = try await engine.store(user(1))
    let counts = try await storage.read { view in
      try ["document-4", "document-5", "document-9"].map { start in
        try view.count(DocumentRange(start: start, end: "document-6"), among: 1)
      }
    }
    #expect(
      counts.map(\.last) == [
        DocumentID(stored: "document-4"), DocumentID(stored: "document-6"), nil,
      ])
    #expect(counts.map(\.count) == [1, 2, 0])
    await storage.close()
    await engine.close()
  }

  private func findings(in directory: TemporaryDirectory) throws -> [ScrubFinding] {
    let findings = Findings()
    let counts = try DirectoryScrub().run(directory.path, findings.reporter)
    #expect(counts.findings == findings.all.count)
    return findings.all
  }

  @Test func soundDirectoryHasNoFindingsAndIsCounted() async throws {
    let directory = try await prepared()
    let findings = Findings()
    let counts = try DirectoryScrub().run(directory.path, findings.reporter)
    #expect(findings.all == [])
    #expect(counts.stores == 2)
    #expect(counts.documents == 42)
    // Of each store: the winners, five ancestors of the edited document, and the leaf that is not the winner.
    #expect(counts.bodies == 54)
  }

  @Test(arguments: ["", "/nowhere", "/stores"])
  func whatIsNoDataDirectoryIsNotCalledSound(path: String) async throws {
    let directory = try TemporaryDirectory()
    if path == "/stores" { await (try FileEngine.open(directory: directory.path)).close() }
    #expect(throws: DataDirectoryError.self) {
      _ = try DirectoryScrub().run(directory.path + path, Findings().reporter)
    }
  }

  @Test func whatACrashLeftIsReadWithoutATrace() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let storage = try await engine.store(user(1))
    try await fill(storage)
    let crashed = try directory.copy()
    await storage.close()
    await engine.close()
    #expect(crashed.files().contains { $0.hasSuffix("-wal") })
    let before = try crashed.files().map { ($0, try contents(crashed.path + "/" + $0)) }
    #expect(try findings(in: crashed) == [])
    let after = try crashed.files().map { ($0, try contents(crashed.path + "/" + $0)) }
    #expect(before.elementsEqual(after) { $0.0 == $1.0 && $0.1 == $1.1 })
  }

  @Test func aDirectoryInUseIsLeftToItsServer() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    do throws(DataDirectoryError) {
      _ = try DirectoryScrub().run(directory.path, Findings().reporter)
      Issue.record("was looked through")
    } catch { #expect(error.code == .inUse) }
    await engine.close()
  }

  @Test(
    .bug(id: "F13"),
    arguments: [
      "UPDATE documents SET body = CAST(body || x'20' AS BLOB) WHERE id = 'document-5'",
      "UPDATE documents SET type = 'other' WHERE id = 'document-5'",
      "UPDATE documents SET is_deleted = 1 WHERE id = 'document-5'",
      "UPDATE documents SET tree = NULL WHERE id = 'edited'",
      "UPDATE bodies SET body = CAST(body || x'20' AS BLOB) WHERE generation = 2",
      "UPDATE bodies SET first = 999", "UPDATE documents SET arrival = x'00'",
      "UPDATE bodies SET arrival = (SELECT arrival FROM documents LIMIT 1)",
      "DELETE FROM bodies WHERE first IN (SELECT first FROM documents WHERE id = 'document-3')",
      "DELETE FROM documents WHERE id = 'document-5'",
      "UPDATE header SET live = live + 1", "UPDATE header SET epoch = 'other'",
      "UPDATE entries SET content = CAST('{\"n\":6}' AS BLOB)", "UPDATE entries SET content = NULL",
      "UPDATE locals SET revision = 7", "DROP INDEX bodies_by_revision",
    ] as [StaticString])
  func damageOfOneStoreIsFoundThereAlone(sql: StaticString) async throws {
    let directory = try await prepared()
    try change(user(1), in: directory, sql)
    let findings = try findings(in: directory)
    let file = DataDirectory.fileName(for: try user(1).key)
    #expect(!findings.isEmpty, "\(sql)")
    #expect(findings.allSatisfy { $0.file.hasSuffix(file) }, "\(findings)")
  }

  @Test func aCountThatIsWrongUnderARightChecksumIsFound() async throws {
    let directory = try await prepared()
    let connection = try Connection(path: path(of: user(1), in: directory), mode: .readWrite)
    var header = try StoreHeader(readingFrom: connection)
    header.bytes += 1
    header.live -= 1
    try header.write(to: connection)
    try connection.close()
    let reasons = try findings(in: directory).map(\.reason)
    #expect(reasons.count == 2, "\(reasons)")
    #expect(
      reasons.contains { $0.contains("documents") } && reasons.contains { $0.contains("bytes") })
  }

  @Test(.bug(id: "F11")) func missingEmptyAndSwappedFilesAreFound() async throws {
    for change in 0..<4 {
      let directory = try await prepared()
      let file = try path(of: user(1), in: directory)
      switch change {
      case 0: try remove(file)
      case 1: try write([], to: file)
      case 2: try write(try contents(path(of: user(2), in: directory)), to: file)
      default: try remove(directory.path + "/registry.sqlite")
      }
      #expect(try findings(in: directory).count >= 1, "\(change)")
    }
  }

  @Test(
    .bug(id: "F27"),
    arguments: [
      (
        "11\n", DataDirectoryError.Code.otherFormat,
        "The data directory DIR was written by a newer version of this service: its format is 11, "
          + "this version needs 10. Start the version that wrote it, or a later one"
      ),
      (
        "8\n", .otherFormat,
        "The data directory DIR was written by an earlier version of this service: its format is 8, "
          + "this version needs 10. Export each account with the version that wrote it, and import it "
          + "here"
      ),
      (
        "x\n", .unreachable,
        "DIR/format is damaged; write 10 into it if this version wrote the directory"
      ),
      (
        nil, .unreachable,
        "DIR/format is missing; write 10 into it if this version wrote the directory"
      ),
    ] as [(String?, DataDirectoryError.Code, String)])
  func directoryOfAnotherVersionIsRefusedAndKept(
    _ format: String?, _ code: DataDirectoryError.Code, _ reason: String
  ) async throws {
    let directory = try await prepared()
    let (file, path) = (directory.path + "/format", try DataDirectory.real(directory.path))
    #expect(try contents(file) == Array("10\n".utf8))
    if let format { try write(Array(format.utf8), to: file) } else { unlink(file) }
    let before = directory.files()
    let wanted = reason.replacing("DIR", with: path)
    for opens in [false, true] {
      do throws(DataDirectoryError) {
        if opens {
          _ = try await FileEngine.open(directory: directory.path)
        } else {
          _ = try DirectoryScrub().run(directory.path, Findings().reporter)
        }
        Issue.record("was used")
      } catch {
        #expect(error.code == code)
        #expect(error.reason == wanted)
      }
    }
    #expect(directory.files() == before)
    if let format { #expect(try contents(file) == Array(format.utf8)) }
  }

  @Test func registryOfAnotherApplicationIsRefusedAndKept() async throws {
    let directory = try await prepared()
    let (file, path) = (directory.path + "/registry.sqlite", try DataDirectory.real(directory.path))
    let connection = try Connection(path: file, mode: .readWrite)
    try connection.setApplicationID(7)
    try connection.checkpoint(.truncate)
    try connection.close()
    let before = try contents(file)
    do throws(DataDirectoryError) {
      _ = try await FileEngine.open(directory: directory.path)
      Issue.record("was opened")
    } catch {
      #expect(error.code == .registry)
      #expect(
        error.reason
          == "The registry in \(path) is damaged; make it anew with: hotel-bookmarks repair --data \(path)"
      )
      #expect(error.detail == "not a file of this kind: application id 7, version 3")
    }
    #expect(try contents(file) == before)
  }

  /// The rows of four tables, as text.
  private func rows(_ path: String) throws -> [String] {
    let connection = try Connection.inspecting(path: path, hasLog: false)
    let tables: [StaticString] = [
      """
      SELECT quote(one) || quote(store) || quote(epoch) || quote(last_sequence) || quote(live)
        || quote(deleted) || quote(bytes) || quote(checksum) || quote(newest) FROM header
      """,
      """
      SELECT quote(sequence) || quote(id) || quote(first) || quote(generation) || quote(digest)
        || quote(is_deleted) || quote(type) || quote(created) || quote(updated) || quote(body_checksum)
        || quote(tree_checksum) || quote(checksum) || quote(body) || quote(tree) FROM documents ORDER BY id
      """,
      """
      SELECT quote(number) || quote(first) || quote(generation) || quote(digest)
        || quote(body_checksum) || quote(body) FROM bodies ORDER BY number
      """,
      "SELECT quote(id) || quote(revision) || quote(expires) || quote(checksum) || quote(body) FROM locals ORDER BY id",
    ]
    return try tables.flatMap { sql in
      try connection.statement(sql).all { row in try row.string(0) }
    }
  }

  @Test(.bug(id: "F13")) func anyTurnedBitIsFoundOrHarmless() async throws {
    let directory = try await prepared()
    let file = try path(of: user(1), in: directory)
    let (sound, expected) = (try contents(file), try rows(file))
    let scrub = try DirectoryScrub()
    var generator = SeededGenerator(seed: 20_261_121)
    let count = repetitions(150, nightly: 400)
    var found = 0
    for _ in 0..<count {
      var bytes = sound
      let offset = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      try write(bytes, to: file)
      let findings = Findings()
      if try scrub.run(directory.path, findings.reporter).findings > 0 {
        found += 1
      } else {
        #expect(try rows(file) == expected, "byte \(offset)")
      }
    }
    #expect(found > count / 40)
  }
}
