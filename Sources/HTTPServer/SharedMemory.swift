import Synchronization

/// The bytes of one kind that all requests hold, bodies or answers, shared among addresses.
///
/// An address may hold as many bytes as are free. So one address gets half of the memory at most and leaves the other half
/// to others, without a number that says how much (Choudhury and Hahne, "Dynamic Queue Length Thresholds for
/// Shared-Memory Packet Switches", 1998). Whatever others hold, at this address or elsewhere, a connection may hold
/// ``little``, as long as all together hold less than twice the memory.
struct SharedMemory: ~Copyable {
  /// Bytes that a connection may hold in any case: a few short answers.
  static let little = 256 << 10

  private let most: Int
  private let all = HeldBytes()

  /// - Parameter most: bytes at once.
  init(_ most: Int) { self.most = most }

  /// The bytes that all requests hold.
  var bytes: Int { all.count }

  /// Counts bytes.
  /// - Parameter address: the bytes that the client's address holds; nil for an address of many people, whose part has
  ///   no bound of its own.
  /// - Parameter connection: the bytes that the connection holds; nil if they are not known.
  /// - Parameter always: whether they are counted even if there is no memory for them.
  /// - Returns: whether there is memory for them; then call ``release(_:from:on:)`` when they are freed.
  func reserve(
    _ count: Int, from address: HeldBytes?, on connection: HeldBytes? = nil, always: Bool = false
  ) -> Bool {
    let free = most - all.add(count)
    let there = address?.add(count) ?? 0
    let isLittle = connection.map { $0.add(count) + count <= Self.little } ?? false
    if always || there + count <= free || isLittle && count <= free + most { return true }
    release(count, from: address, on: connection)
    return false
  }

  func release(_ count: Int, from address: HeldBytes?, on connection: HeldBytes? = nil) {
    guard count > 0 else { return }
    all.subtract(count)
    address?.subtract(count)
    connection?.subtract(count)
  }
}

/// The bytes of one kind that all requests, an address or a connection holds.
final class HeldBytes: Sendable {
  private let bytes = Atomic(0)

  var count: Int { bytes.load(ordering: .relaxed) }

  /// - Returns: the bytes before.
  fileprivate func add(_ count: Int) -> Int { bytes.add(count, ordering: .relaxed).oldValue }

  fileprivate func subtract(_ count: Int) { bytes.subtract(count, ordering: .relaxed) }
}
