package import Documents
package import IPAddresses
import Stores
import Synchronization

/// Who signed in, failed to, was erased, got another role, and what the administrator did. By setting; see the book's page
/// *Audit*.
///
/// ``note(_:from:)`` adds to a queue in memory and waits for nothing. ``AccountService/writeAudit()`` stores what waits, so
/// a crash loses the last second.
package final class AuditLog: Sendable {
  package enum Mode: String, Sendable, CaseIterable {
    case off
    case on
    /// With the addresses of clients.
    case addresses
  }

  /// The days after which an entry is forgotten.
  package static let days = 90
  /// The bytes that wait at most: a MiB, about 7,000 entries.
  static let waitingBytes = 1 << 20
  /// The bytes that one server records on one day at most: 32 MiB, about 250,000 entries. What strangers cause has half of
  /// them, so that a flood of wrong passwords leaves room for what matters more.
  static let dailyBytes = 32 << 20

  private struct State {
    var waiting: [[UInt8]] = []
    var waitingBytes = 0
    /// Lost since the last entry that says so.
    var lost = 0
    /// Lost since the start.
    var lostInAll = 0
    var (day, dayBytes) = (0, 0)
    /// The newest piece of this server.
    var piece: AuditPiece?
    var pieces = 0

    mutating func add(_ line: [UInt8]) {
      waiting.append(line)
      waitingBytes += line.count
      dayBytes += line.count
    }
  }

  package let mode: Mode
  private let now: @Sendable () -> Timestamp
  /// What tells the pieces of this start of the server from others.
  private let server: String
  private let state = Mutex(State())

  /// An empty log.
  package init(_ mode: Mode, now: @escaping @Sendable () -> Timestamp) {
    self.mode = mode
    self.now = now
    server = String(AccountID.random().text.prefix(8))
  }

  /// Entries that were not recorded since the start: too many came at once, or on one day.
  package var lostCount: Int { state.withLock { $0.lostInAll } }

  /// Adds an entry.
  /// - Parameter address: the client's, which is recorded only if the setting says so.
  package func note(_ event: AuditEvent, from address: ClientAddress? = nil) {
    guard mode != .off else { return }
    let time = now()
    let line = event.line(at: time, from: mode == .addresses ? address : nil)
    state.withLock { state in
      if state.day != time.day { (state.day, state.dayBytes) = (time.day, 0) }
      let limit = event.isStrangers ? Self.dailyBytes / 2 : Self.dailyBytes
      guard state.dayBytes + line.count <= limit,
        state.waitingBytes + line.count <= Self.waitingBytes
      else {
        state.lost += 1
        state.lostInAll += 1
        return
      }
      if state.lost > 0 {
        let lost = AuditEvent(.entriesLost, count: state.lost).line(at: time, from: nil)
        state.add(lost)
        state.lost = 0
      }
      state.add(line)
    }
  }

  /// The newest piece as it is to be written next, with as much of what waits as fits into it.
  /// - Returns: nil if nothing waits; else also how many entries it takes. They wait until ``settle(_:taking:)``.
  func next() -> (piece: AuditPiece, count: Int)? {
    let time = now()
    return state.withLock { state in
      guard !state.waiting.isEmpty else { return nil }
      var piece =
        state.piece.flatMap { $0.isFull(at: time) ? nil : $0 }
        ?? AuditPiece(at: time, number: state.pieces, of: server)
      var count = 0
      while count < state.waiting.count, count == 0 || piece.body.count < AuditPiece.bytes {
        piece.body += state.waiting[count]
        count += 1
      }
      piece.revision += 1
      return (piece, count)
    }
  }

  /// Notes that a piece was written, with so many entries that waited.
  func settle(_ piece: AuditPiece, taking count: Int) {
    state.withLock { state in
      for line in state.waiting.prefix(count) { state.waitingBytes -= line.count }
      state.waiting.removeFirst(count)
      if piece.revision == 1 { state.pieces += 1 }
      state.piece = piece
    }
  }
}
