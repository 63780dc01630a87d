import Hotels
import SQLite

extension SearchError {
  /// A search that took too long, or that nobody waits for any more.
  static let interrupted = SearchError(
    .timeout, "The search took too long.", detail: "the catalogue's own limit, or the task's end")

  /// Searches with a flag that is raised when the task is cancelled.
  static func endingWithTask<Value: Sendable>(
    _ search: @Sendable (InterruptionFlag) async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let flag = InterruptionFlag()
    let outcome: Result<Value, SearchError> = await withTaskCancellationHandler {
      do throws(SearchError) {
        return .success(try await search(flag))
      } catch {
        return .failure(error)
      }
    } onCancel: {
      flag.raise()
    }
    return try outcome.get()
  }
}
