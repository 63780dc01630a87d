import Documents
import StoreTesting
import Testing

@testable import Stores

/// Reads in slices whose steps run again, or see another epoch.
@Suite struct SlicedReadTests {
  private let engine = MemoryEngine()
  private let name = StoreName.system

  @Test func stepThatRunsAgainStartsFromTheSameProgress() async throws {
    let repetition = Repetition(seed: 7)
    let manager = manager(of: repetition.engine(over: engine), maximumOpen: 1)
    let numbers = try await manager.withStore(name) { store in
      try await store.read(inSlices: [Int]()) { numbers, view in
        numbers.append(numbers.count)
        _ = try view.info()
        return numbers.count == 60 ? numbers : nil
      }
    }
    #expect(numbers == Array(0..<60))
    #expect(repetition.discarded > 30)
    await manager.close()
  }

  @Test(arguments: 1...6)
  func readInSlicesSeesOneEpoch(call: Int) async throws {
    let hooked = WrappedEngine(engine) { [engine, name] storage in
      HookedStorage(storage) { number, _ in if number == call { engine.takeOver(name) } }
    }
    let manager = manager(of: hooked, maximumOpen: 1)
    let epochs = try await manager.withStore(name) { store in
      try await store.read(inSlices: [String]()) { epochs, view in
        epochs.append(try view.info().epoch)
        return epochs.count == 5 ? epochs : nil
      }
    }
    #expect(epochs.count == 5 && Set(epochs).count == 1)
    await manager.close()
  }

  @Test(arguments: [1, 5, 40, 200])
  func exportGoesOnWhenAServerTakesOverThatHasEverything(call: Int) async throws {
    var random = RandomStore(seed: 5)
    let source = try random.name()
    let manager = random.manager(of: engine)
    try await manager.withStore(source) { try await random.fill($0) }
    let export = try await random.export(of: source, from: manager)
    await manager.close()
    let hooked = WrappedEngine(engine) { [engine] storage in
      HookedStorage(storage) { number, _ in if number == call { engine.takeOver(source) } }
    }
    let other = random.manager(of: hooked)
    let again = try await engine.inShortestSlices {
      try await random.export(of: source, from: other)
    }
    #expect(again == export)
    await other.close()
  }

  @Test func exportEndsWhenAServerTakesOverThatLacksChanges() async throws {
    var random = RandomStore(seed: 5)
    let source = try random.name()
    let manager = random.manager(of: engine)
    try await manager.withStore(source) { try await random.fill($0) }
    engine.keepCopy(of: source)
    try await manager.withStore(source) { store in
      _ = try await store.put(DocumentID(stored: "lost"), base: nil, body: .empty)
    }
    let id = try #require(AccountID(String(repeating: "a", count: 32)))
    let account = ExportedAccount(id: id, kind: "user", username: "anna", created: nil)
    // Larger than a piece, so that several are read.
    let body = try DocumentBody(
      parsing: Array(#"{"t":"\#(String(repeating: "x", count: ExportFormat.pieceBytes))"}"#.utf8))
    try await manager.withStore(source) { store in
      _ = try await store.put(DocumentID(stored: "A"), base: nil, body: body)
    }
    var export = AccountExport(
      of: account, made: Timestamp(milliseconds: 0), from: manager,
      [(name: ExportFormat.own, store: source)], RandomStore.notes)
    #expect(try await export.next() != nil)
    engine.takeOver(source)
    let code = await #expect(throws: ServiceError.self) {
      while try await export.next() != nil {}
    }?.code
    #expect(code == .unavailable)
    await manager.close()
  }

  @Test func copyOfAGrowingListStaysAsItWas() {
    var list = GrowingList<Int>()
    for count in 0..<1_000 {
      let copy = list
      list.append(count)
      #expect(copy.count == count && list.count == count + 1)
      if count % 97 == 0 { #expect(copy.all == Array(0..<count)) }
    }
    list += [1_000, 1_001]
    #expect(list.all == Array(0...1_001))
  }
}
