import Accounts
import Stores

/// The administrator whom the settings name, and the password that was drawn for them at the first start.
struct AdministratorAssembly: Sendable {
  let administrator: Administrator
  private let file: AdministratorFile
  private let drawn: AdministratorFile.Password?

  /// Takes the password from the file that the settings name, otherwise the one that the data directory
  /// keeps, which is drawn when there is none.
  /// - Throws: ``SettingsError`` for a name or password that can't be; `ServiceError` when the data
  ///   directory's file can't be used.
  init(_ settings: Settings) throws {
    let file = AdministratorFile(DataFiles.administrator(in: settings.data))
    self.file = file
    if let path = settings.adminPasswordFile {
      let password = try PasswordFile.password(in: path, of: .adminPasswordFile)
      administrator = try Self.checked {
        () in try Administrator(name: settings.adminName, password: password)
      }
      drawn = nil
    } else {
      // The name first: a wrong one must not cost a password.
      try Self.checked { _ = try UserName(settings.adminName) }
      let password = try file.password()
      administrator = try Self.checked {
        try Administrator(name: settings.adminName, password: password.hash)
      }
      drawn = password.fresh == nil ? nil : password
    }
  }

  /// The password to be shown, once; nil when it was shown before or comes from a file of the operator's.
  var freshPassword: Secret? { drawn?.fresh }

  /// Notes that the password was shown.
  /// - Throws: `ServiceError`; the next start draws another password then.
  func noteShown() throws {
    if let drawn { try file.noteShown(drawn) }
  }

  /// Refuses to start where a user has the administrator's name: either of the two could not log in any more.
  /// - Throws: ``SettingsError``; the store's errors.
  func checkName(_ accounts: AccountService) async throws {
    guard try await accounts.accountID(ofUser: administrator.name.text) == nil else {
      throw SettingsError(
        description: "adminName: a user has signed up as \(administrator.name.text); "
          + "name the administrator otherwise with --\(SettingKey.adminName.flagName)")
    }
  }

  @discardableResult
  private static func checked<Value>(
    _ make: () throws -> Value
  ) throws -> Value {
    do {
      return try make()
    } catch let error as ServiceError {
      switch error.code {
      case .invalidName:
        throw SettingsError(description: "adminName: \(error.reason)")
      case .invalidPassword:
        throw SettingsError(description: "adminPasswordFile: \(error.reason)")
      default: throw error
      }
    }
  }
}
