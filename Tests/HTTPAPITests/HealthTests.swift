import HTTPTypes
import NIOCore
import Stores
import Synchronization
import Testing

@testable import HTTPAPI

/// What operators are told about the server's health, and how long that is valid.
@Suite struct HealthTests {
  /// A clock that a test sets.
  private final class ManualClock: Sendable {
    private let start = ContinuousClock.now
    private let seconds = Mutex(0)

    var now: ContinuousClock.Instant { start + .seconds(seconds.withLock { $0 }) }
    func advance(_ count: Int) { seconds.withLock { $0 += count } }
  }

  private func text(_ health: Health, _ question: OperationQuestion) -> String {
    String(buffer: health.answer(question).body)
  }

  @Test func findingCountsForAWhileAndThenForNothing() {
    let clock = ManualClock()
    let health = Health(now: { clock.now })
    #expect(health.answer(.ready).status == .serviceUnavailable)
    _ = health.note(stores: nil)
    #expect(health.answer(.ready).status == .ok && health.answer(.up).status == .ok)
    clock.advance(Health.staleSeconds - 1)
    #expect(health.answer(.ready).status == .ok)
    clock.advance(1)
    #expect(text(health, .ready).contains("has not answered for 15 seconds"))
    for question in [OperationQuestion.ready, .up] {
      #expect(health.answer(question).status == .serviceUnavailable)
    }
    #expect(health.answer(.alive).status == .ok && health.answer(.metrics).status == .ok)
  }

  @Test func diskIsTriedOftenWhileSomebodyAsksAndNowAndThenOtherwise() {
    let clock = ManualClock()
    let health = Health(now: { clock.now })
    #expect(health.isDue)
    _ = health.note(stores: nil)
    clock.advance(Health.idleSeconds - 1)
    #expect(!health.isDue)
    clock.advance(1)
    #expect(health.isDue)
    _ = health.note(stores: nil)
    _ = health.answer(.alive)
    #expect(!health.isDue)
    _ = health.answer(.ready)
    #expect(health.isDue && health.isAsked)
    clock.advance(Health.attentionSeconds)
    _ = health.note(stores: nil)
    #expect(!health.isDue && !health.isAsked)
    #expect(Health.idleSeconds < Health.staleSeconds)
  }

  @Test func writesOnOneDiskAreToldOnceAndAreNoFailure() {
    let health = Health()
    _ = health.note(stores: nil)
    #expect(!health.note(writesOnOneDisk: false) && !text(health, .ready).contains("OneDisk"))
    #expect(health.note(writesOnOneDisk: true) && !health.note(writesOnOneDisk: true))
    #expect(
      text(health, .ready)
        == #"{"status":"ready","stores":"writable","writes":true,"upstream":"available","writesOnOneDisk":true}"#
    )
  }

  @Test func fullDiskAndSilentUpstreamDegradeAndAnUnwritableDiskDoesMore() {
    let health = Health()
    _ = health.note(stores: nil)
    health.note(upstream: "It is silent")
    #expect(
      text(health, .ready).contains(#""status":"degraded","stores":"writable","writes":true"#))
    health.note(upstream: nil)
    _ = health.note(stores: ServiceError(.storageFull, "No room"))
    for code in [ServiceError.Code.storageFull, .outcomeUnknown] {
      _ = health.note(stores: ServiceError(code, "No room"))
      #expect(
        text(health, .ready).contains(
          #""status":"degraded","stores":"No room","writes":false"#))
      #expect(health.answer(.up).status == .ok && health.answer(.ready).status == .ok)
    }
    let name = health.note(stores: ServiceError(.unavailable, "It was moved"))
    #expect(text(health, .ready).contains(#""status":"unavailable","stores":"It was moved""#))
    #expect(health.answer(.up).status == .serviceUnavailable)
    #expect(health.answer(.up).fields[.xRequestID] == name && name != nil)
    // A repeated failure does not count as a new one.
    #expect(health.note(stores: ServiceError(.unavailable, "It was moved")) == nil)
  }

  @Test func serverThatDoesNotListenYetIsNotReadyAndAlive() {
    let health = Health()
    _ = health.note(stores: nil)
    health.start()
    #expect(text(health, .ready).contains("The server is starting"))
    #expect(health.answer(.up).status == .serviceUnavailable)
    #expect(health.answer(.alive).status == .ok)
    health.begin()
    #expect(health.answer(.ready).status == .ok)
  }

  @Test func serverThatStopsIsNotReadyAndAlive() {
    let health = Health()
    _ = health.note(stores: nil)
    health.stop()
    #expect(text(health, .ready).contains("The server is stopping"))
    #expect(health.answer(.alive).status == .ok)
  }
}
