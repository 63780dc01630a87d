import Hotels

extension UpstreamClient {
  /// Does some work, but not for longer than a limit: then the work is cancelled and its outcome
  /// dropped.
  /// - Throws: what the work throws; `timeout` at the limit; `unavailable` when the caller is
  ///   cancelled.
  func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let outcome = await withTaskGroup(of: Result<Value, SearchError>.self) { group in
      group.addTask {
        do throws(SearchError) {
          return .success(try await work())
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        do {
          try await Task.sleep(for: limit)
          return .failure(.timeout("no whole answer within \(limit)"))
        } catch {
          return .failure(.unavailable("cancelled"))
        }
      }
      let first = await group.next()
      group.cancelAll()
      return first ?? .failure(.unavailable("cancelled"))
    }
    // What a cancelled request throws depends on how far it had come.
    if case .failure = outcome, Task.isCancelled { throw .unavailable("cancelled") }
    return try outcome.get()
  }
}
