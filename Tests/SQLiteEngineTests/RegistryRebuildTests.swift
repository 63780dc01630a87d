import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// A damaged or missing registry is rebuilt from its entries and from the stores' files.
@Suite struct RegistryRebuildTests {
  @Test func registryOfWhichNothingIsLeftKeepsTheErasedErased() async throws {
    let directory = try TemporaryDirectory()
    var engine = try await FileEngine.open(directory: directory.path, threads: 1)
    for number in 1...3 { await (try await engine.store(user(number))).close() }
    try await engine.noteErasure(of: user(2))
    await engine.close()
    try remove(directory.path + "/registry.sqlite")
    #expect(try RegistryRebuild.run(directory.path)?.entries == 3)
    engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let (second, third) = (
      try await engine.open(user(2), creating: false),
      try await engine.open(user(3), creating: false)
    )
    #expect(second == nil && third != nil)
    await third?.close()
    await engine.close()
  }

  @Test(.bug(id: "F12")) func damagedRegistryIsMadeAnewOfTheFiles() async throws {
    let directory = try TemporaryDirectory()
    var engine = try await FileEngine.open(directory: directory.path, threads: 1)
    for number in 1...40 { await (try await engine.store(user(number))).close() }
    try await engine.registry.set(.init(epoch: "1", isErasing: true), for: user(7).key)
    await engine.close()
    let file = directory.path + "/registry.sqlite"
    let sound = try contents(file)
    for damage in [0, 1, 2] {
      var bytes = sound
      for index in bytes.indices where index / 4_096 == damage {
        bytes[index] = UInt8(truncatingIfNeeded: index &* 167 &+ damage)
      }
      if damage == 2 { try remove(file) } else { try write(bytes, to: file) }
      let outcome = try #require(try RegistryRebuild.run(directory.path))
      #expect(outcome.entries == 40 && outcome.unknown.isEmpty)
      #expect(try RegistryRebuild.run(directory.path) == nil)
      engine = try await FileEngine.open(directory: directory.path, threads: 1)
      let names = try await engine.names(in: "user", after: nil, limit: 100)
      #expect(names.count >= 39)
      let store = try #require(try await engine.open(user(3), creating: false))
      await store.close()
      await engine.close()
    }
  }

  @Test func entryInWhichOneByteIsWrongIsRepaired() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    await (try await engine.store(user(1))).close()
    try await engine.registry.set(.init(epoch: "1", isErasing: true), for: user(7).key)
    await engine.close()
    let file = directory.path + "/registry.sqlite"
    var bytes = try contents(file)
    let key = Array(try user(7).key.utf8)
    let offset = try #require(bytes.indices.first { bytes[$0...].starts(with: key) })
    bytes[offset + key.count] ^= 1
    try write(bytes, to: file)
    #expect(try RegistryRebuild.run(directory.path)?.entries == 2)
    let again = try await FileEngine.open(directory: directory.path, threads: 1)
    #expect(try await again.open(user(7), creating: false) == nil)
    await again.close()
  }
}
