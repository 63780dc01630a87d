extension ServiceError {
  /// The error of a call after the storage was closed.
  package static let closed = ServiceError(.unavailable, "The database is closed")

  /// The error of a write for which there is no space, except perhaps the reserve for deletions.
  package static let full = full("")

  package static func full(_ detail: String) -> ServiceError {
    ServiceError(.storageFull, "There is no space left to store this", detail: detail)
  }

  package static let readOnly = readOnly("")

  package static func readOnly(_ detail: String) -> ServiceError {
    ServiceError(.readOnly, "The storage accepts no writes at present", detail: detail)
  }

  /// The error of a disk or a database that fails; it is unknown what is stored.
  package static func storage(_ detail: String) -> ServiceError {
    ServiceError(.storage, "The storage could not be read or written", detail: detail)
  }

  /// The error of a store whose content differs from what was written.
  package static func damaged(_ detail: String) -> ServiceError {
    ServiceError(.damaged, "The database is damaged; it needs to be restored", detail: detail)
  }

  /// The error of a row that fails its checksum.
  package static func integrity(_ detail: String) -> ServiceError {
    ServiceError(.integrity, "A stored value is damaged", detail: detail)
  }
}
