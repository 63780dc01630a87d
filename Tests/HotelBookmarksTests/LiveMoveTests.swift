import Documents
import SQLiteEngine
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import HotelBookmarks

/// Moves of stores that are in use. The target is another data directory, because the move is the same.
@Suite struct LiveMoveTests {
  private let mark = MoveMark(.moved, detail: "elsewhere")

  /// Every change that was answered is in the target, whatever phase of the move it fell into.
  @Test func everyAnsweredChangeIsMoved() async throws {
    try await withPlaces { place in
      let writers = Task {
        await withTaskGroup(of: (StoreName, Int)?.self) { group in
          for number in 0..<4 { group.addTask { await write(to: number, in: place.stores) } }
          group.addTask { await makeAndErase(in: place.stores) }
          var sums: [StoreName: Int] = [:]
          for await sum in group { if let sum { sums[sum.0] = sum.1 } }
          return sums
        }
      }
      while place.stores.openCount < 4 { await Task.yield() }
      let summary = try await place.move().run { mark }
      let written = await writers.value
      #expect(written.count == 4)
      #expect(try await place.source.moveMark() == mark)
      let names = try await place.source.names(in: "user", after: nil, limit: 10_000)
      #expect(try await place.target.names(in: "user", after: nil, limit: 10_000) == names)
      #expect(summary.stores == names.count + 1)
      for name in names {
        let copy = try #require(try await place.target.open(name, creating: false))
        let info = try await copy.read { view in try view.info() }
        let count = written[name] ?? 0
        let lost = try await copy.read { view in
          try (0..<count).filter { try view.local(LocalID(receipt: "point\($0)")) == nil }
        }
        await copy.close()
        #expect(lost.isEmpty)
        let known = try await place.stores.withExisting(name) { store in
          try await store.read { view in try view.info() }
        }
        #expect(info == known)
        if count > 0 { #expect(info.documentCount == Int64(count)) }
      }
      await #expect(throws: ServiceError.moved) {
        try await place.stores.withStore(try user(0)) { store in
          _ = try await store.put(DocumentID("late"), base: nil, body: .empty)
        }
      }
    }
  }

  /// The engine of the target fails when changes are refused already.
  @Test func failureOfTheTargetLetsTheServerGoOn() async throws {
    try await withPlaces { place in
      #expect(await write(to: 1, in: place.stores, count: 9) != nil)
      let target = place.target
      await #expect(throws: (any Error).self) {
        _ = try await place.move { await target.close() }.run { mark }
      }
      try place.source.access.requireAllowed()
      #expect(try await place.source.moveMark() == nil)
      #expect(await write(to: 2, in: place.stores, count: 9) != nil)
    }
  }

  /// Regression: a move ended at the first store below which the disk failed.
  @Test(arguments: [(1, true, "there"), (9, false, "reported"), (9, true, "thrown")])
  func errorOfADiskEndsAMoveOnlyIfTheOriginalCanBeRead(
    failures: Int, isReadable: Bool, expected: String
  ) async throws {
    let failure = ServiceError(.storage, "The disk has an error")
    var (left, lines): (Int, [String]) = (failures, [])
    var result: String
    do {
      let outcome = try await StoreMove.reportingDamage(
        of: try user(1), { lines.append($0) }, { _ in if !isReadable { throw failure } }
      ) {
        left -= 1
        if left >= 0 { throw failure }
        return .alreadyThere
      }
      result = outcome == .alreadyThere ? "there" : "reported"
    } catch { result = ServiceError(error)?.code == .storage ? "thrown" : "\(error)" }
    #expect(result == expected)
    #expect(lines.map { $0.hasPrefix("user/") } == (expected == "reported" ? [true] : []))
  }

  @Test func cancelledMoveLetsTheServerGoOnAndIsContinued() async throws {
    try await withPlaces { place in
      #expect(await write(to: 1, in: place.stores, count: 9) != nil)
      await #expect(throws: CancellationError.self) {
        try await Task {
          let move = place.move { withUnsafeCurrentTask { $0?.cancel() } }
          _ = try await move.run { mark }
        }.value
      }
      try place.source.access.requireAllowed()
      #expect(await write(to: 1, in: place.stores, count: 18) != nil)
      #expect(try await place.stores.erase(try user(3)) == false)
      let summary = try await place.move().run { mark }
      #expect(summary.damaged == 0)
      let copy = try #require(try await place.target.open(try user(1), creating: false))
      #expect(try await copy.read { view in try view.info().documentCount } == 18)
      await copy.close()
      // The same move again finds that all is there.
      #expect(try await place.move().run { mark }.stores == summary.stores)
    }
  }

  /// A store that an interrupted move had copied must not come back.
  @Test func storesThatWereErasedMeanwhileAreErasedInTheTarget() async throws {
    try await withPlaces { place in
      for number in 1...3 { #expect(await write(to: number, in: place.stores, count: 2) != nil) }
      await #expect(throws: CancellationError.self) {
        try await Task {
          _ = try await place.move { withUnsafeCurrentTask { $0?.cancel() } }.run { mark }
        }.value
      }
      #expect(try await place.target.names(in: "user", after: nil, limit: 9).count == 3)
      #expect(try await place.stores.erase(try user(1)))
      #expect(try await place.stores.erase(try user(2)))
      #expect(await write(to: 2, in: place.stores, count: 5) != nil)
      #expect(await write(to: 4, in: place.stores, count: 1) != nil)
      _ = try await place.move().run { mark }
      let names = try [2, 3, 4].map { try user($0) }
      #expect(try await place.target.names(in: "user", after: nil, limit: 9) == names)
      let copy = try #require(try await place.target.open(names[0], creating: false))
      #expect(try await copy.read { view in try view.info().documentCount } == 5)
      await copy.close()
    }
  }
}

/// A server's stores, and the place that they move to.
private struct Place: Sendable {
  let source: FileEngine
  let stores: DatabaseManager
  let target: FileEngine

  /// A move.
  /// - Parameter atRefusal: runs when all stores are copied and changes are about to be refused.
  func move(atRefusal: @escaping @Sendable () async -> Void = {}) -> LiveMove {
    LiveMove(
      backups: StoreBackups(engine: source, stores: stores), target: target,
      report: LiveMove.Report(progress: { _, _ in }, line: { _ in await atRefusal() }))
  }
}

private func withPlaces(_ use: (Place) async throws -> Void) async throws {
  let (directory, other) = (try TemporaryDirectory(), try TemporaryDirectory())
  let source = try await FileEngine.open(directory: directory.path)
  let target = try await FileEngine.open(directory: other.path)
  let place = Place(
    source: source, stores: ServiceAssembly.stores(over: StorageAssembly(source), Settings()),
    target: target)
  let result: Result<Void, any Error>
  do { result = .success(try await use(place)) } catch { result = .failure(error) }
  await place.stores.close()
  await source.close()
  await target.close()
  try result.get()
}

private func user(_ number: Int) throws -> StoreName {
  let digits = String(number)
  return .user(try #require(AccountID(String(repeating: "0", count: 32 - digits.count) + digits)))
}

/// Writes documents, each with a local document in the same commit, until changes are refused.
/// - Parameter count: how many documents the store has at the end; nil for no limit.
/// - Returns: how many were answered; nil after any other error.
private func write(
  to number: Int, in stores: DatabaseManager, count: Int? = nil
) async -> (StoreName, Int)? {
  var answered = 0
  do {
    let name = try user(number)
    while answered < count ?? .max {
      let next = answered
      try await stores.withStore(name) { store in
        let id = try DocumentID("document \(next)")
        try await store.update(loading: [id]) { changes in
          if try changes.view.document(id) != nil { return }
          try changes.put(id, base: nil, body: try DocumentBody(parsing: Array("{}".utf8)))
          changes.write(
            LocalEdit(LocalID(receipt: "point\(next)"), LocalDocument(revision: 1, body: [1])))
        }
      }
      answered += 1
      // Otherwise the stores grow faster than they are copied.
      try await Task.sleep(for: .milliseconds(2))
    }
    return (name, answered)
  } catch {
    return ServiceError(error)?.code == .moved ? (try? user(number)).map { ($0, answered) } : nil
  }
}

/// Makes stores and erases every second one, until changes are refused.
private func makeAndErase(in stores: DatabaseManager) async -> (StoreName, Int)? {
  for number in 10... {
    guard await write(to: number, in: stores, count: 1)?.1 == 1 else { return nil }
    guard number % 2 == 0, let name = try? user(number) else { continue }
    guard (try? await stores.erase(name)) == true else { return nil }
  }
  return nil
}
