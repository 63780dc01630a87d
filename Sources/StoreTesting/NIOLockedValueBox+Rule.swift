import NIOConcurrencyHelpers
import Stores

extension NIOLockedValueBox {
  /// Runs a rule under the lock and passes on what it throws, by its type.
  func withLockedRule<Answer>(
    _ rule: (inout Value) throws(StoreError) -> Answer
  ) throws(StoreError) -> Answer {
    let result = withLockedValue { value -> Result<Answer, StoreError> in
      do throws(StoreError) { return .success(try rule(&value)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
