import NIOCore
import Synchronization

/// Writes the answers of one connection, or of an HTTP/2 stream, on its event loop. Its task begins the next answer only when
/// this one is written (``settle()``), so that nothing overtakes it.
final class AnswerOutlet: Sendable {
  let channel: any Channel
  let date: DateField
  private let writes: LoopWrites
  /// Parts that are on their way to the event loop, not yet seen by the channel.
  private let unwritten = Atomic(0)

  var unwrittenCount: Int { unwritten.load(ordering: .relaxed) }

  init(_ channel: any Channel, _ date: DateField, _ writes: PerEventLoop<LoopWrites>) {
    self.channel = channel
    self.date = date
    self.writes = writes[channel.eventLoop]
  }

  /// Does a write when it is its turn.
  func append(_ write: @escaping @Sendable () -> Void) {
    unwritten.add(1, ordering: .relaxed)
    writes.append { [self] in
      write()
      unwritten.subtract(1, ordering: .relaxed)
    }
  }

  /// Waits until all is written.
  func settle() async {
    guard unwrittenCount > 0 else { return }
    await withCheckedContinuation { continuation in writes.append { continuation.resume() } }
  }
}
