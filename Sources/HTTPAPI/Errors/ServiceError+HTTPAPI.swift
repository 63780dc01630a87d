package import Stores

extension ServiceError.Code {
  /// The caller uses too many of these at the same time.
  package static let tooManyRequests = Self("tooManyRequests")
  package static let invalidDatabaseName = Self("invalidDatabaseName")
  package static let databaseNameTooLong = Self("databaseNameTooLong")
  /// A file of hotels can't be imported as it is.
  package static let importRefused = Self("importRefused")
  /// An operator has to change something outside of the server first: a setting, a path, a database.
  package static let configuration = Self("configuration")
}
