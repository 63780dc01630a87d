import Testing

@testable import Stores

/// ``OpenStores``, with the outcome of each step recorded as text.
struct RecordedStores {
  var stores: OpenStores<Int>
  private var outcomes: [String] = []

  init(slots: Int) { stores = OpenStores(maximumOpen: slots) }

  static func name(_ text: String) -> StoreName { DatabaseName(text).map { .named($0) } ?? .system }

  /// Returns the outcomes since the last call.
  mutating func drain() -> [String] {
    defer { outcomes = [] }
    return outcomes
  }

  mutating func ask(_ store: String, as ticket: UInt64, creating: Bool = true) {
    note(stores.ask(.lease(creating: creating), for: Self.name(store), as: ticket))
  }

  mutating func erase(_ store: String, as ticket: UInt64) {
    note(stores.ask(.erase, for: Self.name(store), as: ticket))
  }

  mutating func useAlone(_ store: String, as ticket: UInt64) {
    note(stores.ask(.alone, for: Self.name(store), as: ticket))
  }

  mutating func opened(_ store: String, _ number: Int?) {
    note(stores.didOpen(Self.name(store), .success(number)))
  }

  mutating func failed(_ store: String, _ error: ServiceError) {
    note(stores.didOpen(Self.name(store), .failure(error)))
  }

  mutating func closed(_ store: String) { note(stores.didClose(Self.name(store))) }

  mutating func erased(_ store: String, _ wasThere: Bool) {
    note(stores.didErase(Self.name(store), .success(wasThere)))
  }

  mutating func usedAlone(_ store: String) { note(stores.didUseAlone(Self.name(store))) }

  mutating func release(_ store: String, failed: Bool = false) {
    note(stores.release(Self.name(store), failed: failed))
  }

  mutating func withdraw(_ ticket: UInt64, _ store: String) {
    note(stores.withdraw(ticket, for: Self.name(store), .withdrawn))
  }

  mutating func sweep() { note(stores.sweep()) }
  mutating func stop(as ticket: UInt64) { note(stores.stop(as: ticket)) }

  /// Opens a store and leaves it idle.
  mutating func open(_ store: String, _ number: Int) {
    ask(store, as: .max)
    opened(store, number)
    release(store)
    outcomes = []
  }

  /// Reports every requested closing as done. Discards the outcomes that were recorded before.
  mutating func closeAll() {
    for outcome in drain() where outcome.hasPrefix("close ") {
      closed(String(outcome.dropFirst(6)))
    }
  }

  private mutating func note(_ outcome: OpenStores<Int>.Outcome) {
    for (ticket, answer) in outcome.answers {
      switch answer {
      case .leased(let store): outcomes.append("\(ticket): leased \(store)")
      case .absent: outcomes.append("\(ticket): absent")
      case .alone: outcomes.append("\(ticket): alone")
      case .erased(let wasThere): outcomes.append("\(ticket): erased \(wasThere)")
      case .failed(let error):
        outcomes.append("\(ticket): \((error as? ServiceError).map { "\($0.code)" } ?? "?")")
      case .stopped: outcomes.append("\(ticket): stopped")
      }
    }
    for work in outcome.work {
      switch work {
      case .open(let name, let creating):
        outcomes.append("open \(text(name))\(creating ? "" : " if there")")
      case .close(let name, _): outcomes.append("close \(text(name))")
      case .erase(let name): outcomes.append("erase \(text(name))")
      }
    }
  }

  private func text(_ name: StoreName) -> String {
    guard case .named(let name) = name else { return name.key }
    return name.text
  }
}
