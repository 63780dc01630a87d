import Documents
import IPAddresses
import Stores
import Synchronization
import Testing

@testable import HTTPAPI

/// A guest who becomes an account while writes of the guest are not done.
@Suite(.timeLimit(.minutes(1))) struct PendingWritesTests {
  /// What has happened, in order.
  private final class Steps: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }

    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  private let pending = PendingWrites()
  private let name: WriteReceipt.Name

  init() throws {
    let guest = try #require(AccountID(String(repeating: "0", count: 32)))
    name = WriteReceipt.Name(owner: guest, token: String(repeating: "1", count: 32))
  }

  /// Begins an accepted write.
  private func accept() async throws {
    let receipt = ReceiptID(of: name, list: nil, at: Timestamp(milliseconds: 0))
    let known = try await pending.begin(
      name, [], receipt: receipt, from: ClientAddress("192.0.2.1"))
    #expect(known == nil)
  }

  @Test func aSignUpFollowsTheWritesThatFollowTheAcceptedOnes() async throws {
    let (steps, pending, guest) = (Steps(), pending, name.owner)
    try await accept()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await pending.settled(guest) { steps.add("sign-up") } }
      while pending.accepts(from: guest) { await Task.yield() }
      group.addTask { try await pending.following(guest) { steps.add("write") } }
      while !pending.isFollowed(guest) { await Task.yield() }
      steps.add("end")
      pending.end(name)
      try await group.waitForAll()
    }
    #expect(steps.all == ["end", "write", "sign-up"])
    #expect(pending.accepts(from: guest) && !pending.isFollowed(guest))
  }

  @Test func whoLeavesSignsNobodyUp() async throws {
    try await accept()
    let (pending, guest) = (pending, name.owner)
    let leaving = Task { try await pending.settled(guest) { Issue.record("It has signed up") } }
    while pending.accepts(from: guest) { await Task.yield() }
    leaving.cancel()
    await #expect(throws: CancellationError.self) { try await leaving.value }
    #expect(pending.accepts(from: guest))
  }
}
