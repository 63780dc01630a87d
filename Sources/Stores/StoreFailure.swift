/// An error that can say that a store failed: what ``DatabaseManager/withStore(_:creating:_:)``
/// needs of a use case's own error to throw nothing else.
package protocol StoreFailure: Error {
  /// The error that stands for a store's failure.
  init(_ error: StoreError)
}

extension StoreError: StoreFailure {
  /// The same error.
  package init(_ error: StoreError) { self = error }
}
