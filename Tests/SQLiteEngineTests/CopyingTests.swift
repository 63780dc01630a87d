import Documents
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// Copies of stores from one data directory to another.
@Suite struct CopyingTests {
  private let name: StoreName

  init() throws { name = try user(1) }

  /// As after a crash between the rename of a copy and its registration.
  @Test func copyWithoutAnEntryIsRegisteredWhenItIsOpened() async throws {
    let (old, new) = (try TemporaryDirectory(), try TemporaryDirectory())
    let source = try await FileEngine.open(directory: old.path, threads: 1)
    let storage = try await source.store(name)
    try await storage.put("a", #"{"n":1}"#)
    await storage.close()
    let target = try await FileEngine.open(directory: new.path, threads: 1)
    let transfer = StoreTransfer(from: source, to: target)
    _ = try await transfer.copy(name)
    try await target.registry.set(nil, for: name.key)
    #expect(try await transfer.copy(name) == .alreadyThere)
    #expect(try await target.store(name).body("a") == #"{"n":1}"#)
    await source.close()
    await target.close()
  }
}
