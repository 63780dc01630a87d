import Accounts
import PostgresEngine

/// Where the stores are: in files of a data directory, or in a database that several servers share.
package struct StorageLocation: Sendable, Equatable {
  /// The data directory.
  package var data: String
  /// The URL of the database; nil for files.
  package var database: String?
  /// A file with the database's password; nil for none.
  package var databasePasswordFile: String?

  package init(data: String, database: String? = nil, databasePasswordFile: String? = nil) {
    self.data = data
    self.database = database
    self.databasePasswordFile = databasePasswordFile
  }

  /// The address of the database; nil for files.
  /// - Throws: ``SettingsError`` for an address or a password file that can't be used.
  func databaseAddress() throws -> DatabaseAddress? {
    guard let database else { return nil }
    return try Self.address(url: database, password: try Self.password(in: databasePasswordFile))
  }

  /// The address of a URL.
  /// - Throws: ``SettingsError`` for a URL that can't be used.
  static func address(url: String, password: String?) throws(SettingsError) -> DatabaseAddress {
    do { return try DatabaseAddress(url: url, password: password) } catch {
      throw SettingsError("database: \(StartFailure.line(error))")
    }
  }

  /// The database's password in a file; nil without a file.
  /// - Throws: ``SettingsError`` for a file that can't be used.
  static func password(in file: String?) throws(SettingsError) -> String? {
    guard let file else { return nil }
    return try PasswordFile.password(in: file, of: .databasePasswordFile).exposed
  }
}
