import Documents
import NIOConcurrencyHelpers
import SQLite
import Scheduling
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// Refusing changes of all stores while a move copies what was changed last.
@Suite struct WriteAccessTests {
  private let name: StoreName
  private let other: StoreName

  init() throws { (name, other) = (try user(1), try user(2)) }

  private func code(_ work: () async throws -> Void) async -> ServiceError.Code? {
    do {
      try await work()
      return nil
    } catch { return ServiceError(error)?.code }
  }

  @Test func whileChangesAreRefusedNothingChangesAndAllCanBeRead() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let store = try await engine.store(name)
    let first = try await store.put("a", #"{"n":1}"#)
    await (try await engine.store(.staged(other))).close()
    await engine.access.refuse()
    let threads = ThreadPool(name: "test")
    let refused: [ServiceError.Code?] = [
      await code { try await store.put("a", #"{"n":2}"#, base: first) },
      await code {
        try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
          changes.write(LocalEdit(LocalID(receipt: "x"), LocalDocument(revision: 1, body: [1])))
        }
      },
      await code { _ = try await engine.open(other, creating: true) },
      await code { _ = try await engine.erase(name) },
      await code { try await engine.noteErasure(of: name) },
      await code { try await engine.replace(other, by: .staged(other)) },
      await code { try await engine.replaceDamaged(name, by: .nothing, on: threads) },
    ]
    #expect(refused == Array(repeating: .moved, count: refused.count))
    await threads.stop()
    #expect(try await store.read { view in try view.info().lastSequence } == 1)
    #expect(try await engine.open(other, creating: false) == nil)
    #expect(try await engine.names(in: "user", after: nil, limit: 9) == [name])
    #expect(!directory.names.contains("erasures.log"))

    engine.access.allow()
    try await store.put("a", #"{"n":2}"#, base: first)
    await store.close()
    #expect(try await engine.erase(name))
    await engine.close()
  }

  /// A damaged value stays as it is: a repair would make the store differ from its copy.
  @Test func whileChangesAreRefusedNothingIsRepaired() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let store = try await engine.store(name)
    try await store.put("a", #"{"name":"The Rotten Inn"}"#)
    await store.close()
    let file = try Connection(path: path(of: name, in: directory), mode: .readWrite)
    try file.execute("UPDATE documents SET body = CAST(replace(body, 'Inn', 'Imn') AS BLOB)")
    try file.close()
    let damaged = try await engine.store(name)
    await engine.access.refuse()
    let moment = Timestamp(milliseconds: 2)
    #expect(
      await code { _ = try await damaged.repair(.everything, at: moment, pause: .zero) } == .moved)
    engine.access.allow()
    let outcome = try await damaged.repair(.everything, at: moment, pause: .zero)
    #expect(outcome.hasChanged)
    await damaged.close()
    await engine.close()
  }

  @Test func refusalWaitsForChangesThatAreUnderWay() async throws {
    let access = WriteAccess()
    try access.begin("a")
    let isOver = NIOLockedValueBox(false)
    let refusal = Task {
      await access.refuse()
      #expect(isOver.withLockedValue { $0 })
    }
    while access.phase == .allowed { await Task.yield() }
    #expect(await code { try access.begin("b") } == .moved)
    isOver.withLockedValue { $0 = true }
    access.end("a")
    await refusal.value
    access.allow()
    try access.begin("b")
    access.end("b")
  }

  /// Regression: a store that was replaced while a move copied its former file was not copied again, so the target lacked an
  /// import that was acknowledged.
  @Test func changeIsNotedAgainAtItsEnd() async throws {
    let access = WriteAccess()
    access.noteChanges(true)
    try await access.change("a") {
      access.forgetChange("a")
      #expect(!access.hasChanged("a"))
    }
    #expect(access.takeChanged() == ["a"])
    await #expect(throws: CancellationError.self) {
      try await access.change("b") {
        #expect(access.takeChanged() == ["b"])
        throw CancellationError()
      }
    }
    #expect(access.takeChanged() == ["b"])
  }

  @Test func changedStoresAreNotedAsLongAsSomebodyAsks() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let access = engine.access
    let store = try await engine.store(name)
    access.noteChanges(true)
    #expect(access.takeChanged().isEmpty)
    try await store.put("a", "{}")
    await (try await engine.store(other)).close()
    #expect(access.hasChanged(name.key))
    access.forgetChange(name.key)
    #expect(!access.hasChanged(name.key))
    #expect(access.takeChanged() == [other.key])
    _ = try await engine.erase(other)
    try await store.put("b", "{}")
    #expect(access.takeChanged() == [name.key, other.key])
    access.noteChanges(false)
    try await store.put("c", "{}")
    #expect(access.takeChanged().isEmpty)
    await store.close()
    await engine.close()
  }

  @Test func handoverNeedsARefusalThatStillHolds() async throws {
    let access = WriteAccess()
    #expect(throws: CancellationError.self) { try access.beginHandover() }
    await access.refuse()
    access.allow()
    #expect(throws: CancellationError.self) { try access.beginHandover() }
    await access.refuse()
    try access.beginHandover()
    access.allow()
    #expect(throws: ServiceError.self) { try access.requireAllowed() }
    access.undoHandover()
    try access.requireAllowed()
    await access.refuse()
    try access.beginHandover()
    access.finishHandover()
    access.undoHandover()
    access.allow()
    #expect(throws: ServiceError.self) { try access.requireAllowed() }
  }
}
