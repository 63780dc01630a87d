import Synchronization

/// The bytes of one kind that all requests hold, bodies or answers, shared among addresses.
///
/// An address may hold as many bytes as are free. So one address gets half of the memory at most, each of two a third,
/// and there is always some left for another one, without a number that says how much.
///
/// Source: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
struct SharedMemory: ~Copyable {
  private let most: Int
  private let held = Atomic(0)

  /// - Parameter most: bytes at once.
  init(_ most: Int) { self.most = most }

  /// The bytes that all requests hold.
  var bytes: Int { held.load(ordering: .relaxed) }

  /// Counts bytes.
  /// - Parameter own: the bytes that the client's address holds; nil for an address of many people, whose part has no
  ///   bound of its own.
  /// - Parameter always: whether they are counted even if there is no memory for them.
  /// - Returns: whether there is memory for them; then call ``release(_:from:)`` when they are freed.
  func reserve(_ count: Int, from own: AddressBytes?, always: Bool = false) -> Bool {
    let total = held.add(count, ordering: .relaxed).newValue
    let share = own?.bytes.add(count, ordering: .relaxed).newValue ?? 0
    if always || total <= most && share <= most - (total - count) { return true }
    release(count, from: own)
    return false
  }

  /// Gives bytes back.
  func release(_ count: Int, from own: AddressBytes?) {
    guard count > 0 else { return }
    held.subtract(count, ordering: .relaxed)
    own?.bytes.subtract(count, ordering: .relaxed)
  }
}

/// The bytes of one kind that one address holds.
final class AddressBytes: Sendable {
  /// The bytes.
  let bytes = Atomic(0)
}
