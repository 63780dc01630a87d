package import Stores

extension Subscription {
  /// A reader of one store, or of a person's stores, whose right holds as long as `mayRead` says.
  package convenience init(
    testing scope: Scope, waits: Bool = true, author: Author = .administrator, right: String = "a",
    mayRead: @escaping @Sendable () async throws -> Bool = { true },
    closeConnection: @escaping @Sendable () -> Void = {}
  ) {
    self.init(
      to: scope, waits: waits,
      for: Reader(
        author: author, right: right, mayRead: mayRead, closeConnection: closeConnection))
  }

  /// What comes after all news: on a busy machine one of them may come late.
  package func lastWake() async -> Wake {
    while true {
      let wake = await next(by: .now + .seconds(600))
      guard case .news = wake else { return wake }
    }
  }

  /// The news that are there, or that come.
  package func news() async -> News? {
    if case .news(let news) = await next(by: .now + .seconds(600)) { news } else { nil }
  }
}

extension DatabaseManager {
  /// A reader of a store, which has taken its first news.
  package func subscribe(to store: StoreName) async -> Subscription {
    let reader = Subscription(testing: .store(store))
    subscriptions.add(reader)
    _ = await reader.news()
    return reader
  }
}
