import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Hotels

/// Mirrors during which a database server takes over.
@Suite struct MirrorTakeoverTests {
  /// The server takes over before one of the calls of the store, and a hotel is bookmarked after it.
  @Test(arguments: 1...12, [false, true])
  func tokenIsOfOneEpoch(call: Int, losing: Bool) async throws {
    let engine = MemoryEngine()
    let fixture = try HotelFixture(over: engine)
    let user = fixture.user
    for number in 10..<20 { try await fixture.add(ids: "h\(number)") }
    if losing { engine.keepCopy(of: user) }
    try await fixture.add(ids: "last")
    await fixture.stores.close()

    let body = try body(#"{"type":"hotel","id":"late"}"#)
    let hooked = WrappedEngine(engine) { storage in
      HookedStorage(storage) { number, storage in
        guard number == call else { return }
        engine.takeOver(user)
        let id = DocumentID(stored: "late")
        try await storage.update(loading: [id], at: Timestamp(milliseconds: 9)) { changes in
          try changes.put(id, base: nil, body: body)
        }
      }
    }
    let clock = fixture.clock
    let stores = DatabaseManager(engine: hooked, maximumOpen: 4, now: { clock.now })
    let service = HotelService(stores: stores, now: { clock.now })
    let page = try await engine.inShortestSlices {
      try #require(try await service.mirror(of: user, since: nil))
    }
    // Nil if the token is refused.
    let rest = try #require(try await service.mirror(of: user, since: page.token))
    let copied = Set((page.hotels + rest.hotels).map(\.id.text))
    let stored = Set(try await service.allBookmarks(in: user).map(\.id.text))
    #expect(copied.subtracting(["late"]) == stored)
    await stores.close()
  }
}
