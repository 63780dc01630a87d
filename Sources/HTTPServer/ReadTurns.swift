import IPAddresses
import NIOCore

/// Decides whose bytes an event loop handles next, so that no address keeps the loop from the others.
///
/// A client decides how much work its bytes are: one packet opens a hundred HTTP/2 streams or has hundreds of requests,
/// and many connections may send theirs at once. Before the work's own accounts see any of it, a loop would be busy for
/// seconds. So the time of each read is measured. An address that has used more than its share of the loop (half of it,
/// a third if two such addresses are waiting, and so on) waits while other addresses use the loop, and no address has
/// more than ``longestRun`` of it before the loop looks at all sockets again.
///
/// Source: fair queuing, as in Linux' CFS. It is used only on its event loop.
final class ReadTurns {
  /// What an address may use beyond its share before it waits.
  static let burst = TimeAmount.milliseconds(10)
  /// How long the reads of one address may take before the loop looks at the other sockets.
  static let longestRun = TimeAmount.milliseconds(5)
  /// How long after its last read another address counts as using the loop.
  static let sharing = TimeAmount.milliseconds(100)
  /// The longest time for which an address owes what it has used.
  static let longestDebt = TimeAmount.milliseconds(200)
  /// How many bytes wait, of all connections, until those of addresses with less than a quarter of it do not wait any more.
  /// From four times as many on the connections of the others end.
  static let mostKept = 16 << 20
  /// The shortest time until a turn. NIO looks at no socket while a task is due at once.
  static let pause = TimeAmount.microseconds(100)
  /// A tick of the loop is counted only if its reads take this long.
  private static let noticeable = TimeAmount.milliseconds(1)

  /// The bytes that wait.
  var keptBytes = 0
  private let loop: any EventLoop
  private let clock: () -> NIODeadline
  private var flows: [ClientAddress: ReadFlow] = [:]
  /// The flows that wait, and until when each had paid when it was added: the one that has used the least comes last, so
  /// that thousands of addresses cost little.
  private var waiting: [(flow: ReadFlow, paidUntil: NIODeadline)] = []
  private var timer: (due: NIODeadline, task: Scheduled<Void>)?
  /// The flows that have read last, and when: the last one, and the last one that is another.
  private var latest: (flow: ReadFlow, moment: NIODeadline)?
  private var other: (flow: ReadFlow, moment: NIODeadline)?
  private var tick = 0
  private var isTickCounted = false
  private var spentInTick = TimeAmount.zero

  /// The turns of a loop without connections.
  /// - Parameter clock: tells the time that reads take.
  init(on loop: any EventLoop, clock: (() -> NIODeadline)? = nil) {
    self.loop = loop
    self.clock = clock ?? { loop.now }
  }

  /// The moment by its clock.
  var now: NIODeadline { clock() }

  /// Whether more bytes of an address may wait.
  enum Room { case enough, little, none }

  /// Whoever keeps the most waits on: else the many bytes of one address would come before everybody's turns.
  func room(for flow: ReadFlow) -> Room {
    guard keptBytes > Self.mostKept else { return .enough }
    guard flow.keptBytes > Self.mostKept / 4 else { return .little }
    return keptBytes > 4 * Self.mostKept ? .none : .enough
  }

  /// How many addresses are known.
  var count: Int { flows.count }

  /// Counts a new connection of an address.
  func enter(_ address: ClientAddress) -> ReadFlow {
    let flow = flows[address] ?? ReadFlow()
    flows[address] = flow
    flow.connections += 1
    return flow
  }

  /// Counts the end of a connection. What its address owes is forgotten only when it is paid.
  func leave(_ flow: ReadFlow, _ address: ClientAddress) {
    flow.connections -= 1
    guard flow.connections == 0 else { return }
    let now = clock()
    guard flow.paidUntil > now else { return forget(flow, address) }
    let loopBound = NIOLoopBound((self, flow), eventLoop: loop)
    loop.scheduleTask(in: flow.paidUntil - now) {
      let (turns, flow) = loopBound.value
      if flow.connections == 0 { turns.forget(flow, address) }
    }
  }

  private func forget(_ flow: ReadFlow, _ address: ClientAddress) {
    if flows[address] === flow { flows[address] = nil }
  }

  /// Whether bytes that a connection has received may be handled at once. If not, ``wait(_:_:of:)`` follows.
  func mayRead(_ flow: ReadFlow) -> Bool {
    let now = clock()
    if latest?.flow !== flow { other = latest }
    latest = (flow, now)
    guard !flow.isWaiting, flow.used(in: tick) < Self.longestRun else { return false }
    return due(flow, flow.paidUntil, now) <= now
  }

  /// Notes the time that a read has taken.
  func use(_ flow: ReadFlow, since start: NIODeadline) {
    let end = clock()
    let cost = end - start
    let sharers = waiting.count + (flow.isListed ? 1 : 2)
    flow.use(cost, in: tick, sharers: sharers, until: end, most: Self.longestDebt)
    spentInTick = spentInTick + cost
    guard !isTickCounted, spentInTick >= Self.noticeable else { return }
    isTickCounted = true
    let turns = NIOLoopBound(self, eventLoop: loop)
    // The loop runs this after it has handled the sockets that were ready together.
    loop.execute { turns.value.endTick() }
  }

  private func endTick() {
    tick += 1
    (isTickCounted, spentInTick) = (false, .zero)
  }

  /// Calls ``ReadTurnHandler/takeTurn()`` of a connection when its turn has come.
  func wait(_ connection: ReadTurnHandler, _ kind: ReadFlow.Kind, of flow: ReadFlow) {
    flow.append(connection, kind)
    list(flow)
    schedule()
  }

  /// Adds a flow to those that wait, if bytes of its connections do.
  private func list(_ flow: ReadFlow) {
    guard flow.isWaiting, !flow.isListed else { return }
    flow.isListed = true
    var (index, end) = (0, waiting.count)
    while index < end {
      let middle = (index + end) / 2
      if waiting[middle].paidUntil > flow.paidUntil { index = middle + 1 } else { end = middle }
    }
    waiting.insert((flow, flow.paidUntil), at: index)
  }

  /// When a flow may use the loop again: at once if no other uses it.
  private func due(_ flow: ReadFlow, _ paidUntil: NIODeadline, _ now: NIODeadline) -> NIODeadline {
    let another = latest?.flow === flow ? other : latest
    guard let another, now - another.moment < Self.sharing else { return now }
    return max(now, paidUntil - Self.burst)
  }

  private func schedule() {
    let now = clock()
    guard let first = waiting.last else { return }
    let due = max(due(first.flow, first.paidUntil, now), now + Self.pause)
    if let timer {
      guard due < timer.due else { return }
      timer.task.cancel()
    }
    let turns = NIOLoopBound(self, eventLoop: loop)
    timer = (due, loop.scheduleTask(in: due - now) { turns.value.run() })
  }

  private func run() {
    timer = nil
    let start = clock()
    while clock() - start < Self.longestRun, let (flow, connection) = next() {
      connection.takeTurn()
      list(flow)
    }
    schedule()
  }

  /// Removes the connection whose turn it is, of the flow that has used the least.
  private func next() -> (flow: ReadFlow, connection: ReadTurnHandler)? {
    let now = clock()
    while let (flow, paidUntil) = waiting.last, due(flow, paidUntil, now) <= now {
      waiting.removeLast()
      flow.isListed = false
      // It may have used the loop since: the longest reads do not wait.
      if flow.paidUntil > paidUntil {
        list(flow)
      } else if let connection = flow.next() {
        return (flow, connection)
      }
    }
    return nil
  }
}
