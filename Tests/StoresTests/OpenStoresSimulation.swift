import StoreTesting
import TestSupport

@testable import Stores

/// Simulates random callers and a random engine for ``OpenStores``, and records every broken rule.
struct OpenStoresSimulation {
  private typealias Stores = OpenStores<Int>
  private static let slots = 3
  private static let names = (0..<7).compactMap { DatabaseName("s\($0)").map(StoreName.named) }

  private(set) var broken: [String] = []
  private var generator: SeededGenerator
  private var stores = Stores(maximumOpen: slots)
  private var work: [Stores.Work] = []
  private var waiting: [UInt64: StoreName] = [:]
  private var leases: [StoreName: Int] = [:]
  private var existing: Set<StoreName> = []
  private var open: Set<StoreName> = []
  private var usedAlone: [StoreName] = []
  private var lastTicket: UInt64 = 0
  private var isStopped = false

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func run(steps: Int) {
    for _ in 0..<steps {
      step(Int.random(in: 0..<20, using: &generator))
      if open.count > Self.slots || stores.openCount > Self.slots { broken.append("too many open") }
    }
  }

  /// Stops the stores, and continues until no lease and no work is left.
  mutating func finish() {
    lastTicket += 1
    waiting[lastTicket] = .system
    take(stores.stop(as: lastTicket))
    while let name = leases.first(where: { $0.value > 0 })?.key { release(name, failed: false) }
    while !work.isEmpty || !usedAlone.isEmpty { finishWork() }
    if !isStopped || !waiting.isEmpty { broken.append("callers left: \(waiting)") }
    if !open.isEmpty || stores.openCount != 0 { broken.append("stores left open: \(open)") }
  }

  private mutating func step(_ kind: Int) {
    guard let name = Self.names.randomElement(using: &generator) else { return }
    switch kind {
    case 0..<7:
      if let store = stores.lease(name) {
        begin(name, store)
      } else {
        ask(.lease(creating: kind < 5), name)
      }
    case 7..<12:
      let leased = leases.filter { $0.value > 0 }.keys.sorted { $0.key < $1.key }
      if let name = leased.randomElement(using: &generator) { release(name, failed: kind == 7) }
    case 12: ask(Bool.random(using: &generator) ? .erase : .alone, name)
    case 13:
      guard let (ticket, name) = waiting.min(by: { $0.key < $1.key }) else { return }
      take(stores.withdraw(ticket, for: name, .withdrawn))
    case 14: take(stores.sweep())
    default: finishWork()
    }
  }

  private mutating func ask(_ request: Stores.Request, _ name: StoreName) {
    lastTicket += 1
    waiting[lastTicket] = name
    take(stores.ask(request, for: name, as: lastTicket))
  }

  private mutating func release(_ name: StoreName, failed: Bool) {
    leases[name, default: 0] -= 1
    take(stores.release(name, failed: failed))
  }

  private mutating func begin(_ name: StoreName, _ store: Int) {
    if !open.contains(name) { broken.append("leased and not open: \(name.key)") }
    leases[name, default: 0] += 1
  }

  private mutating func take(_ outcome: Stores.Outcome) {
    for (ticket, answer) in outcome.answers {
      guard let name = waiting.removeValue(forKey: ticket) else {
        broken.append("answered twice: \(ticket)")
        continue
      }
      switch answer {
      case .leased(let store): begin(name, store)
      case .absent where existing.contains(name): broken.append("lost: \(name.key)")
      case .alone:
        if open.contains(name) { broken.append("used alone while open: \(name.key)") }
        usedAlone.append(name)
      case .stopped: isStopped = true
      default: break
      }
    }
    work += outcome.work
  }

  private mutating func finishWork() {
    if let name = usedAlone.popLast() {
      if open.contains(name) { broken.append("opened while used alone: \(name.key)") }
      existing.insert(name)
      take(stores.didUseAlone(name))
      return
    }
    guard let index = work.indices.randomElement(using: &generator) else { return }
    switch work.remove(at: index) {
    case .open(let name, let creating):
      if open.contains(name) { broken.append("opened twice: \(name.key)") }
      if Int.random(in: 0..<8, using: &generator) == 0 {
        take(stores.didOpen(name, .failure(ServiceError(.damaged, ""))))
        return
      }
      if creating { existing.insert(name) }
      guard existing.contains(name) else {
        take(stores.didOpen(name, .success(nil)))
        return
      }
      open.insert(name)
      take(stores.didOpen(name, .success(1)))
    case .close(let name, _):
      if leases[name, default: 0] > 0 { broken.append("closed under a lease: \(name.key)") }
      if open.remove(name) == nil { broken.append("closed twice: \(name.key)") }
      take(stores.didClose(name))
    case .erase(let name):
      if open.contains(name) { broken.append("erased while open: \(name.key)") }
      take(stores.didErase(name, .success(existing.remove(name) != nil)))
    }
  }
}
