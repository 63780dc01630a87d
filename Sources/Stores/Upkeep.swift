/// What the service writes by itself behind somebody's write: merges, notes of a step that is to follow. Its author is the
/// server, and it is never the answer to that write.
package enum Upkeep {
  /// Runs what writes by itself.
  nonisolated(nonsending) package static func run<Value>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await Author.$current.withValue(.server) {
      try await WriteReceipt.$current.withValue(nil) { try await body() }
    }
  }
}
