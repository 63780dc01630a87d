import Documents
import Lanes
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// A store with damaged pages is built again from its other pages.
@Suite struct SalvageTests {
  private static let now = Timestamp(milliseconds: 8)
  private static let count = 120

  /// Makes a directory with a closed store of a few dozen pages. Some documents have overflow pages, one has former
  /// bodies.
  private func filled(_ name: StoreName) async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, lanes: 1)
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

  /// Damages the file and salvages the store.
  private func salvaging<Value>(
    _ name: StoreName, in directory: TemporaryDirectory, _ damage: (inout [UInt8]) -> Void,
    _ body: (FileEngine, Result<FileEngine.Salvage?, any Error>) async throws -> Value
  ) async throws -> Value {
    let file = try path(of: name, in: directory)
    var bytes = try contents(file)
    damage(&bytes)
    try write(bytes, to: file)
    let engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    let lane = Lane(name: "salvage")
    let result: Result<FileEngine.Salvage?, any Error>
    do {
      result = .success(try await engine.salvage(name, at: Self.now, on: lane))
    } catch { result = .failure(error) }
    let value = try await body(engine, result)
    await lane.stop()
    await engine.close()
    return value
  }

  private func overwrite(_ page: Int, of bytes: inout [UInt8]) {
    for index in (page - 1) * 4_096..<min(page * 4_096, bytes.count) {
      bytes[index] = UInt8(truncatingIfNeeded: index &* 167 &+ page)
    }
  }

  @Test(.bug(id: "F12")) func whateverPageIsLostTheOthersAreThereAndTheLostAreNamed() async throws {
    let name = try user(1)
    let made = try await filled(name)
    let size = try contents(try path(of: name, in: made)).count
    for page in stride(from: 1, through: size / 4_096, by: 7) {
      let directory = try made.copy()
      try await salvaging(name, in: directory, { overwrite(page, of: &$0) }) { engine, result in
        let salvage = try #require(try result.get())
        let store = try #require(try await engine.open(name, creating: false))
        let outcome = try await store.repair(.everything, at: Self.now, pause: .zero)
        let documents = try await store.info().documentCount
        #expect(
          Int(documents) + salvage.lost.count + outcome.lost.count == Self.count + 1, "page \(page)"
        )
        let damage = try await store.read { view in try view.damage() }
        #expect(Set(salvage.lost).isSubset(of: Set(damage.map(\.id))), "page \(page)")
        if salvage.isWhole { #expect(salvage.lost.isEmpty, "page \(page)") }
        try await store.put("new", "{}")
        await store.close()
      }
    }
  }

  @Test(.bug(id: "F12")) func accountsComeBackWholeOrNotAtAll() async throws {
    let name = StoreName.system
    let sound = try await filled(name)
    let file = try path(of: name, in: sound)
    let bytes = try contents(file)
    var refused = 0
    for page in stride(from: 1, through: bytes.count / 4_096, by: 5) {
      let directory = try sound.copy()
      try await salvaging(name, in: directory, { overwrite(page, of: &$0) }) { engine, result in
        switch result {
        case .success(let salvage):
          #expect(salvage?.isWhole == true)
          let store = try #require(try await engine.open(name, creating: false))
          let found = try await store.info().documentCount
          #expect(found == Int64(Self.count) + 1)
          await store.close()
        case .failure(let error):
          #expect(ServiceError(error)?.code == .damaged)
          refused += 1
        }
      }
    }
    #expect(refused > 1 && refused < bytes.count / 20_480)
  }

  @Test func whatALogHoldsIsNotLost() async throws {
    let name = try user(1)
    let directory = try await filled(name)
    var engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    let store = try await engine.store(name)
    try await store.put("logged", #"{"n":1}"#)
    let file = try path(of: name, in: directory)
    let (main, log) = (try contents(file), try contents(file + "-wal"))
    await store.close()
    await engine.close()
    try write(log, to: file + "-wal")
    try await salvaging(
      name, in: directory,
      { bytes in
        bytes = main
        bytes[100] = 0x77
      }
    ) { engine, result in
      let salvage = try result.get()
      #expect(salvage?.isWhole == true)
    }
    engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    let again = try #require(try await engine.open(name, creating: false))
    #expect(try await again.body("logged") == #"{"n":1}"#)
    await again.close()
    await engine.close()
  }

  @Test(.bug(id: "F15")) func logOfAnotherStoreIsSetAsideUnread() async throws {
    let name = try user(1)
    let directory = try await filled(name)
    let engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    let other = try await engine.store(user(2))
    let logPath = try path(of: user(2), in: directory) + "-wal"
    try await other.put("first", #"{"n":0}"#)
    // The log of a new file is emptied soon after its first commit.
    while try !contents(logPath).isEmpty { await Task.yield() }
    try await other.put("secret", #"{"n":1}"#)
    let log = try contents(logPath)
    await other.close()
    await engine.close()
    let file = try path(of: name, in: directory)
    try write(log, to: file + "-wal")
    try await salvaging(name, in: directory, { $0[100] = 0x77 }) { engine, result in
      let salvage = try result.get()
      #expect(salvage?.isWhole == true)
      let store = try #require(try await engine.open(name, creating: false))
      let (count, secret) = (try await store.info().documentCount, try await store.body("secret"))
      #expect(count == Int64(Self.count) + 1 && secret == nil)
      await store.close()
      #expect(try contents(file + ".damaged-wal") == log)
      let wasThere = try await engine.erase(name)
      #expect(wasThere && !directory.files().contains { $0.contains(".damaged") })
    }
  }

  @Test func registryOfWhichNothingIsLeftKeepsTheErasedErased() async throws {
    let directory = try TemporaryDirectory()
    var engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    for number in 1...3 { await (try await engine.store(user(number))).close() }
    try await engine.noteErasure(of: user(2))
    await engine.close()
    try remove(directory.path + "/registry.sqlite")
    #expect(try RegistrySalvage.run(directory.path)?.entries == 3)
    engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    let (second, third) = (
      try await engine.open(user(2), creating: false),
      try await engine.open(user(3), creating: false)
    )
    #expect(second == nil && third != nil)
    await third?.close()
    await engine.close()
  }

  @Test func storeOfWhichTheRegistryKnowsAnotherLifeBeginsANewOne() async throws {
    let name = try user(1)
    let directory = try await filled(name)
    var engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    try await engine.registry.set(.init(epoch: "another"), for: name.key)
    #expect(await engine.refusal(of: name) == .damaged)
    await engine.close()
    try await salvaging(name, in: directory, { _ in }) { engine, result in
      let salvage = try #require(try result.get())
      #expect(!salvage.isWhole && salvage.lost.isEmpty && salvage.missing == 0)
    }
    engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    let store = try #require(try await engine.open(name, creating: false))
    #expect(try await store.info().documentCount == Int64(Self.count) + 1)
    await store.close()
    await engine.close()
  }

  @Test(.bug(id: "F12")) func damagedRegistryIsMadeAnewOfTheFiles() async throws {
    let directory = try TemporaryDirectory()
    var engine = try await FileEngine.open(directory: directory.path, lanes: 1)
    for number in 1...40 { await (try await engine.store(user(number))).close() }
    try await engine.registry.set(.init(epoch: "1", isErasing: true), for: user(7).key)
    await engine.close()
    let file = directory.path + "/registry.sqlite"
    let sound = try contents(file)
    for damage in [0, 1, 2] {
      var bytes = sound
      if damage < 2 { overwrite(damage + 1, of: &bytes) }
      if damage == 2 { try remove(file) } else { try write(bytes, to: file) }
      let outcome = try #require(try RegistrySalvage.run(directory.path))
      #expect(outcome.entries == 40 && outcome.unknown.isEmpty)
      #expect(try RegistrySalvage.run(directory.path) == nil)
      engine = try await FileEngine.open(directory: directory.path, lanes: 1)
      let names = try await engine.names(in: "user", after: nil, limit: 100)
      #expect(names.count >= 39)
      let store = try #require(try await engine.open(user(3), creating: false))
      await store.close()
      await engine.close()
    }
  }

  @Test func erasedStoreTakesItsDamagedFileWithIt() async throws {
    let name = try user(1)
    let directory = try await filled(name)
    try await salvaging(name, in: directory, { overwrite(4, of: &$0) }) { engine, result in
      let salvage = try result.get()
      #expect(salvage != nil)
      #expect(directory.files().contains { $0.hasSuffix(".damaged") })
      let wasThere = try await engine.erase(name)
      #expect(wasThere)
      #expect(!directory.files().contains { $0.hasSuffix(".damaged") })
    }
  }
}
