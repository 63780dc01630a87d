package import Stores

extension ServiceError {
  /// The error of a call after the storage was closed.
  package static let closed = ServiceError(.unavailable, "The database is closed")

  /// The error of a write for which there is no space, except perhaps the reserve for deletions.
  package static let full = ServiceError(.storageFull, "There is no space left to store this")

  package static let readOnly = ServiceError(
    .readOnly, "The storage accepts no writes at present")

  /// The error of a store whose content differs from what was written.
  package static func damaged(_ detail: String) -> ServiceError {
    ServiceError(.damaged, "The database is damaged; it needs to be restored", detail: detail)
  }

  /// The error of a row that fails its checksum.
  package static func integrity(_ detail: String) -> ServiceError {
    ServiceError(.integrity, "A stored value is damaged", detail: detail)
  }
}
