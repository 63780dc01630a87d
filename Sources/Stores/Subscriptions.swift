import NIOConcurrencyHelpers
import Scheduling

/// All subscriptions, and who has to be told what.
///
/// One task tells of commits, so that a commit does not wait for its readers. Another asks whether those may still read
/// whose rights may have changed. Neither runs while there is nothing to tell.
package final class Subscriptions: Sendable {
  /// How many rights are looked up at once, at most.
  private static let looksAtOnce = 16

  /// What a subscription is told of.
  private enum Topic: Hashable, Sendable {
    case commits(to: StoreName)
    case rights(of: Author)
  }

  private struct State {
    /// The topics of each subscription.
    var all: [ObjectIdentifier: (subscription: Subscription, topics: Set<Topic>)] = [:]
    var readers: [Topic: [ObjectIdentifier: Subscription]] = [:]
    /// All subscriptions, until one is added or removed.
    var list: [Subscription]?
    /// The stores with commits of which nobody is told yet.
    var changed: Set<StoreName> = []
    /// Those whose rights are to be looked up.
    var doubted: [ObjectIdentifier: Subscription] = [:]
    var isTelling = false
    var isLooking = false
    var isClosed = false

    mutating func join(_ subscription: Subscription, _ topic: Topic) {
      let id = ObjectIdentifier(subscription)
      readers[topic, default: [:]][id] = subscription
      all[id, default: (subscription, [])].topics.insert(topic)
    }

    mutating func leave(_ id: ObjectIdentifier, _ topic: Topic) {
      all[id]?.topics.remove(topic)
      readers[topic]?[id] = nil
      if readers[topic]?.isEmpty == true { readers[topic] = nil }
    }
  }

  private let state = NIOLockedValueBox(State())

  /// No subscriptions.
  package init() {}

  /// How many there are.
  package var count: Int { state.withLockedValue { $0.all.count } }

  /// All subscriptions, in no particular order.
  package var all: [Subscription] {
    state.withLockedValue { state in
      let list = state.list ?? state.all.values.map(\.subscription)
      state.list = list
      return list
    }
  }

  /// The devices from which a person reads a store and waits for its changes.
  package func devices(of author: Author, reading store: StoreName) -> Set<DeviceLabel> {
    state.withLockedValue { state in
      let readers = state.readers[.rights(of: author)] ?? [:]
      return Set(
        readers.values.lazy.filter { $0.waits && $0.scope.stores.contains(store) }
          .compactMap(\.reader.device))
    }
  }

  /// The stores that are read, in no particular order.
  var stores: [StoreName] {
    state.withLockedValue { state in
      state.readers.keys.compactMap { topic in
        if case .commits(let store) = topic { store } else { nil }
      }
    }
  }

  /// Adds a subscription. It has news at once, because something may have been committed since the reader last read, and
  /// its right is looked up, because that may have ended since it was last seen.
  package func add(_ subscription: Subscription) {
    state.withLockedValue { state in
      state.list = nil
      state.join(subscription, .rights(of: subscription.reader.author))
    }
    follow(subscription.scope.stores, subscription)
    look(at: .rights(of: subscription.reader.author), only: subscription)
  }

  /// Tells a subscription of these stores only, from now on. It has news at once of those that are new.
  package func follow(_ stores: Set<StoreName>, _ subscription: Subscription) {
    let id = ObjectIdentifier(subscription)
    let added: [StoreName]? = state.withLockedValue { state in
      guard let topics = state.all[id]?.topics, !state.isClosed else { return nil }
      for case .commits(let store) in topics where !stores.contains(store) {
        state.leave(id, .commits(to: store))
      }
      let added = stores.filter { !topics.contains(.commits(to: $0)) }
      for store in added { state.join(subscription, .commits(to: store)) }
      return Array(added)
    }
    guard let added else { return subscription.end(.stopping) }
    if !added.isEmpty { subscription.tell(of: added) }
  }

  /// Removes a subscription; a second call does nothing.
  package func remove(_ subscription: Subscription) {
    let id = ObjectIdentifier(subscription)
    state.withLockedValue { state in
      for topic in state.all[id]?.topics ?? [] { state.leave(id, topic) }
      state.all[id] = nil
      state.doubted[id] = nil
      state.list = nil
    }
  }

  // MARK: Commits

  /// Tells the readers of a store soon that something was committed. Several commits become one.
  package func wake(_ store: StoreName) {
    let mustStart = state.withLockedValue { state in
      guard state.readers[.commits(to: store)] != nil else { return false }
      state.changed.insert(store)
      defer { state.isTelling = true }
      return !state.isTelling
    }
    if mustStart { Work.background { await self.tell() } }
  }

  /// Tells the readers of all stores, because notices of another process were lost.
  func wakeAll() { for store in stores { wake(store) } }

  /// Tells the readers of a store at once that it is gone. A store that comes after it may have the same name.
  func end(_ store: StoreName) {
    for subscription in readers(.commits(to: store)) { subscription.lose(store) }
  }

  /// Ends all subscriptions, and those that come later.
  func close() {
    state.withLockedValue { $0.isClosed = true }
    for subscription in all { subscription.end(.stopping) }
  }

  private func readers(_ topic: Topic) -> [Subscription] {
    state.withLockedValue { state in state.readers[topic].map { Array($0.values) } ?? [] }
  }

  private func tell() async {
    while let store = nextChanged() {
      // Outside of the lock, because waking a task takes the task's lock.
      for subscription in readers(.commits(to: store)) { subscription.tell(of: [store]) }
      await Task.yield()
    }
  }

  private func nextChanged() -> StoreName? {
    state.withLockedValue { state in
      let store = state.changed.popFirst()
      state.isTelling = store != nil
      return store
    }
  }

  // MARK: Rights

  /// Looks whether a person may still read, after something of theirs may have ended or changed: a session, an account,
  /// a membership. The change is committed.
  package func checkRights(of people: some Sequence<Author>) {
    for person in people { look(at: .rights(of: person)) }
  }

  /// Looks whether the readers of a store may still read it.
  package func checkRights(in store: StoreName) { look(at: .commits(to: store)) }

  /// Looks whether all readers may still read.
  package func checkAllRights() { look(at: nil) }

  /// - Parameter only: one of the topic's readers; nil for all.
  private func look(at topic: Topic?, only: Subscription? = nil) {
    let mustStart = state.withLockedValue { state in
      if let only {
        state.doubted[ObjectIdentifier(only)] = only
      } else if let topic {
        state.doubted.merge(state.readers[topic] ?? [:]) { $1 }
      } else {
        state.doubted = state.all.mapValues(\.subscription)
      }
      guard !state.doubted.isEmpty, !state.isLooking else { return false }
      state.isLooking = true
      return true
    }
    if mustStart { Work.background { await self.look() } }
  }

  private func look() async {
    while let rights = nextDoubted() {
      await withTaskGroup(of: Void.self) { group in
        for (index, readers) in rights.enumerated() {
          if index >= Self.looksAtOnce { await group.next() }
          group.addTask {
            let holds = (try? await readers[0].reader.mayRead()) ?? false
            for reader in readers { holds ? reader.tellOfRights() : reader.end(.notAllowed) }
          }
        }
      }
    }
  }

  /// - Returns: the readers of each right; nil if none is to be looked up.
  private func nextDoubted() -> [[Subscription]]? {
    state.withLockedValue { state in
      defer { state.doubted = [:] }
      state.isLooking = !state.doubted.isEmpty
      guard state.isLooking else { return nil }
      return Array(Dictionary(grouping: state.doubted.values, by: \.reader.right).values)
    }
  }
}
