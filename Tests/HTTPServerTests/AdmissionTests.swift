import IPAddresses
import NIOCore
import Testing

@testable import HTTPServer

@Suite struct AdmissionTests {
  @Test func boundIsTheLastThatMay() {
    let admission = Admission(atOnce: 3)
    for _ in 0..<3 { #expect(admission.enter(always: false)) }
    #expect(!admission.enter(always: false))
    #expect(admission.enter(always: true))
    #expect(admission.runningCount == 4 && admission.refusedCount == 1)
    for _ in 0..<2 { admission.leave() }
    #expect(admission.enter(always: false))
  }

  @Test func anAddressThatAsksMuchTurnsNobodyElseAway() {
    let admission = Admission(atOnce: 1_000)
    let (hostile, honest) = (admission.share(of: "192.0.2.1"), admission.share(of: "192.0.2.2"))
    while admission.enter(always: false, from: hostile) {}
    // One sixteenth of the requests is reserved for addresses with few requests.
    #expect(admission.runningCount == 1_000 - 1_000 / 16)
    for _ in 0..<Admission.patience { admission.note(lag: .seconds(1)) }
    #expect(admission.currentBound < 1_000)
    for _ in 0..<Admission.fewRequests {
      #expect(admission.enter(always: false, from: honest))
    }
    #expect(!admission.enter(always: false, from: honest))
    admission.leave(from: honest)
    #expect(admission.enter(always: false, from: honest))
    // Another connection from the same address shares its count.
    #expect(!admission.enter(always: false, from: admission.share(of: "192.0.2.2")))
  }

  @Test func aConnectionLeavesSlotsToOthersOfItsAddress() {
    let admission = Admission(atOnce: 1_024)
    let address = admission.share(of: "192.0.2.1")
    let hostile = (0..<RequestLimits.connectionsPerAddress).map { _ in ConnectionShare() }
    for connection in hostile {
      while admission.enter(always: false, from: address, on: connection) {}
    }
    let (one, other) = (ConnectionShare(), ConnectionShare())
    // What one of many gives back goes to those that have little.
    for _ in 0..<2 { admission.leave(from: address, on: hostile[0]) }
    #expect(!admission.enter(always: false, from: address, on: hostile[0]))
    #expect(admission.enter(always: false, from: address, on: one))
    #expect(admission.enter(always: false, from: address, on: other))
  }

  @Test func anAddressIsForgottenOnceNothingRunsForItAnyMore() {
    let admission = Admission()
    let share = admission.share(of: "192.0.2.1")
    #expect(admission.enter(always: false, from: share))
    // The client has disconnected, but its work still runs for a moment.
    admission.release(share)
    #expect(admission.addressCount == 1)
    admission.leave(from: share)
    #expect(admission.addressCount == 0)
  }

  /// A body of a write that is carried out after its answer.
  @Test func bytesOfDetachedWorkCountForTheirAddressUntilItEnds() throws {
    let admission = Admission(memory: 1 << 20)
    let share = admission.share(of: "192.0.2.1")
    var detached: RequestReservation? = RequestReservation(admission, from: share).detached()
    #expect(try #require(detached).reserveBody(500_000))
    admission.release(share)
    #expect(admission.addressCount == 1)
    let again = admission.share(of: "192.0.2.1")
    #expect(again === share)
    #expect(!admission.reserveBody(100_000, from: again))
    #expect(admission.reserveBody(100_000, from: admission.share(of: "192.0.2.2")))
    admission.release(again)
    detached = nil
    #expect(admission.addressCount == 1 && admission.bodyBytes == 100_000)
  }

  @Test func boundShrinksWhileWorkWaitsAndGrowsBack() {
    let admission = Admission(atOnce: 1_000)
    for _ in 0..<400 { _ = admission.enter(always: false) }
    admission.note(lag: .milliseconds(200))
    #expect(admission.currentBound == 1_000)
    for _ in 1..<Admission.patience { admission.note(lag: .milliseconds(201)) }
    #expect(admission.currentBound == 1_000)
    admission.note(lag: .milliseconds(201))
    #expect(admission.currentBound == 300)
    admission.note(lag: .zero)
    #expect(admission.currentBound == 316)
    admission.note(lag: .milliseconds(201))
    #expect(admission.currentBound == 316)
    for _ in 0..<100 { admission.note(lag: .seconds(1)) }
    #expect(admission.currentBound == Admission.minimum)
    for _ in 0..<100 { admission.note(lag: .zero) }
    #expect(admission.currentBound == 1_000)
  }

  @Test func whatCountsAsLateCanBeSet() {
    let admission = Admission(longestLag: .seconds(60))
    for _ in 0..<Admission.patience { admission.note(lag: .seconds(60)) }
    #expect(admission.currentBound == RequestLimits.requestsAtOnce)
    for _ in 0..<Admission.patience { admission.note(lag: .seconds(61)) }
    #expect(admission.currentBound < RequestLimits.requestsAtOnce)
  }

  @Test func bytesOfBodiesHaveABound() {
    let admission = Admission(memory: 10)
    #expect(admission.reserveBody(10) && !admission.reserveBody(1))
    admission.releaseBody(1)
    #expect(admission.reserveBody(1) && admission.bodyBytes == 10)
  }

  /// Slow bodies hold their memory for long, so one address must leave some to the others.
  @Test func bodiesOfOneAddressTakeHalfOfTheMemory() {
    let (mebibyte, admission) = (1 << 20, Admission(memory: 400 << 20))
    let one = RequestReservation(admission, from: admission.share(of: "192.0.2.1"))
    let again = RequestReservation(admission, from: admission.share(of: "192.0.2.1"))
    let other = RequestReservation(admission, from: admission.share(of: "192.0.2.2"))
    #expect(one.reserveBody(200 * mebibyte - 1) && again.reserveBody(1) && !again.reserveBody(1))
    #expect(other.reserveBody(200 * mebibyte) && !other.reserveBody(1))
    one.releaseBody()
    #expect(again.reserveBody(1) && admission.bodyBytes == 200 * mebibyte + 2)
  }

  /// Regression: the connection was closed at the moment at which a body had paused for too long, without an answer.
  @Test func connectionOutlivesTheLongestPauseOfABody() {
    let (limits, idle) = (ConnectionLimits(), Int64(RequestLimits.idleSeconds))
    #expect(limits.bodyGrace + limits.interval < .seconds(idle))
    // nginx and load balancers use a connection again for 60 seconds.
    #expect(idle > 60)
  }

  @Test func oneAddressMayAlwaysSendABodyOfMaximumLength() {
    let admission = Admission(memory: RequestLimits.leastBodyMemoryBytes)
    let one = RequestReservation(admission, from: admission.share(of: "192.0.2.1"))
    #expect(one.reserveBody(RequestLimits.leastBodyMemoryBytes))
  }

  @Test func eachAddressMayHoldAsManyBytesOfAnswersAsAreFree() {
    let mebibyte = 1 << 20
    let admission = Admission(answerMemory: 12 * mebibyte)
    let (one, two, three) = (
      admission.share(of: "192.0.2.1"), admission.share(of: "192.0.2.2"),
      admission.share(of: "192.0.2.3")
    )
    func held(by share: AddressShare) -> Int {
      while admission.reserveAnswer(mebibyte, from: share) {}
      return share.answerBytes / mebibyte
    }
    #expect([one, two, three].map(held) == [6, 3, 2])
    #expect(admission.reserveAnswer(mebibyte) && !admission.reserveAnswer(1))
  }

  @Test func connectionHoldsALittleWhateverOthersHold() {
    let admission = Admission(answerMemory: 10 * SharedMemory.little)
    let office = admission.share(of: "192.0.2.1")
    while admission.reserveAnswer(SharedMemory.little, from: office) {}
    while admission.reserveAnswer(SharedMemory.little) {}
    for number in 0..<11 {
      let colleague = HeldBytes()
      let isGranted = admission.reserveAnswer(SharedMemory.little, from: office, on: colleague)
      #expect(isGranted == (number < 10))
      #expect(!admission.reserveAnswer(1, from: office, on: colleague))
    }
  }

  @Test func bytesOfAnswersHaveABoundOfTheirOwn() {
    let admission = Admission(memory: 10, answerMemory: 20)
    #expect(admission.reserveBody(10) && admission.reserveAnswer(20) && !admission.reserveAnswer(1))
    admission.releaseAnswer(5)
    #expect(admission.answerBytes == 15 && admission.bodyBytes == 10)
    #expect(admission.refusedCount == 1)
  }

  @Test(.bug(id: "F16")) func ofAFloodAFewAreToldAndTheOthersTakeNoDescriptor() {
    let ledger = ConnectionLedger(maximum: 0, maximumLingering: 2)
    #expect(ledger.beginLingering())
    #expect(ledger.beginLingering())
    #expect(!ledger.beginLingering())
    ledger.endLingering()
    #expect(ledger.beginLingering())
  }

  @Test func connectionsHaveABoundInAllAndPerAddress() {
    let ledger = ConnectionLedger(maximum: 3, maximumPerAddress: 2)
    let (first, second) = (ClientAddress("192.0.2.1"), ClientAddress("192.0.2.2"))
    #expect(ledger.enter(first) && ledger.enter(first) && !ledger.enter(first))
    #expect(ledger.enter(second) && !ledger.enter(second) && !ledger.enter(nil))
    ledger.leave(first)
    #expect(ledger.enter(nil) && !ledger.enter(first))
    #expect(ledger.counts == .init(open: 3, refused: 4))
  }

  @Test func connectionsOfOneIPv6SubscriberCountTogether() {
    let ledger = ConnectionLedger(maximum: 9, maximumPerAddress: 1)
    #expect(ledger.enter(ClientAddress("2001:db8::1")))
    #expect(!ledger.enter(ClientAddress("2001:db8::ffff:1")))
    #expect(ledger.enter(ClientAddress("2001:db8:0:1::1")))
  }
}

@Suite struct TrustedProxiesTests {
  private static let proxies = TrustedProxies(
    ["10.0.0.0/8", "192.0.2.7", "fd00::/8"].compactMap { CIDRBlock($0) })

  @Test(
    .bug(id: "S13"),
    arguments: [
      ("203.0.113.9", "198.51.100.1", "203.0.113.9"), ("10.1.1.1", "198.51.100.1", "198.51.100.1"),
      ("10.1.1.1", "203.0.113.5, 198.51.100.1", "198.51.100.1"),
      ("10.1.1.1", "203.0.113.5, 198.51.100.1, 192.0.2.7", "198.51.100.1"),
      ("10.1.1.1", "10.2.2.2, 192.0.2.7", "10.2.2.2"), ("10.1.1.1", "", "10.1.1.1"),
      ("fd00::1", "2001:db8::5", "2001:db8::/64"), ("10.1.1.1", "203.0.113.5, garbage", "unknown"),
      ("10.1.1.1", "203.0.113.9:51234", "203.0.113.9"),
      ("10.1.1.1", "[2001:db8::]:443, 10.2.2.2:80", "2001:db8::/64"),
    ])
  func callerIsTheLastWhomNoTrustedProxyIs(peer: String, field: String, caller: String) {
    let wanted = caller == "2001:db8::/64" ? ClientAddress("2001:db8::") : ClientAddress(caller)
    #expect(Self.proxies.caller(peer: peer, forwarded: field) == wanted)
  }

  @Test(.bug(id: "S13")) func fieldIsIgnoredWithoutTrustedProxies() {
    #expect(
      TrustedProxies().caller(peer: "10.1.1.1", forwarded: "198.51.100.1")
        == ClientAddress("10.1.1.1"))
  }

  @Test func connectionsOfProxiesAndOfThisMachineCountForNobody() throws {
    let own = try SocketAddress(ipAddress: "127.0.0.2", port: 1)
    let proxy = try SocketAddress(ipAddress: "10.1.1.1", port: 1)
    let other = try SocketAddress(ipAddress: "198.51.100.1", port: 1)
    #expect(Self.proxies.owner(of: own, countsLoopback: false) == nil)
    #expect(Self.proxies.owner(of: own, countsLoopback: true) == ClientAddress("127.0.0.2"))
    #expect(Self.proxies.owner(of: proxy, countsLoopback: true) == nil)
    #expect(Self.proxies.owner(of: other, countsLoopback: false) == ClientAddress("198.51.100.1"))
  }
}
