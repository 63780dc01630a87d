import Accounts
import Stores

/// The administrator of the settings, and the random password of the first start.
struct AdministratorAssembly: Sendable {
  let administrator: Administrator
  /// The epoch of the administrator's tokens; nil if they end with this process.
  let epoch: Int?
  /// The password that several servers share; nil if the password is in a file.
  let shared: SharedAdministrator?
  /// Whether the data directory's file is damaged, so that no one can log in as the administrator.
  let isLocked: Bool
  private let file: AdministratorFile?
  private let generated: AdministratorFile.Password?

  /// Reads the password from the file of the settings. Without one it reads the password of the data directory, which
  /// is made at the first start. A damaged file, which no reader but this one has, keeps no one else from the service: the
  /// administrator's password is then one that no one knows.
  /// - Throws: ``SettingsError`` for an invalid name or password; `ServiceError` if the data directory's file can't be
  ///   used.
  init(_ settings: Settings) throws {
    let file = AdministratorFile(DataFiles.administrator(in: settings.data))
    self.file = file
    (shared, epoch) = (nil, nil)
    if let (administrator, _) = try Self.configured(by: settings) {
      (self.administrator, generated, isLocked) = (administrator, nil, false)
    } else {
      isLocked = file.isDamaged
      let password = isLocked ? try file.unknownPassword() : try file.password()
      administrator = try Self.checkSettings {
        try Administrator(name: settings.adminName, password: password.hash)
      }
      generated = password.fresh == nil ? nil : password
    }
  }

  /// Reads the password from the file of the settings, or else from the database that several servers share. The first
  /// server makes, stores and shows it.
  /// - Throws: ``SettingsError`` for an invalid name or password; `ServiceError`.
  init(_ settings: Settings, _ secrets: SharedSecrets) async throws {
    let shared = SharedAdministrator(secrets)
    (file, isLocked) = (nil, false)
    if let (administrator, password) = try Self.configured(by: settings) {
      (self.administrator, generated, self.shared) = (administrator, nil, nil)
      epoch = try await shared.epoch(of: password)
    } else {
      let (password, epoch) = try await shared.password()
      administrator = try Self.checkSettings {
        try Administrator(name: settings.adminName, password: password.hash)
      }
      generated = password.fresh == nil ? nil : password
      (self.shared, self.epoch) = (shared, epoch)
    }
  }

  /// The administrator with the password of the settings' file; nil without a file. The name is checked in any case, so
  /// that an invalid one does not use up a new password.
  private static func configured(by settings: Settings) throws -> (Administrator, Secret)? {
    guard let path = settings.adminPasswordFile else {
      try checkSettings { _ = try UserName(settings.adminName) }
      return nil
    }
    let password = try PasswordFile.password(in: path, of: .adminPasswordFile)
    let administrator = try checkSettings {
      () in try Administrator(name: settings.adminName, password: password)
    }
    return (administrator, password)
  }

  /// The new password, to be shown once; nil if it was already shown, comes from the operator's file, or another
  /// server was faster.
  /// - Throws: the errors of the database that several servers share; then the next start makes another password.
  func passwordToShow() async throws -> Secret? {
    guard let generated else { return nil }
    if let shared, try await !shared.store(generated) { return nil }
    return generated.fresh
  }

  /// Notes that the password was shown.
  /// - Throws: `ServiceError`; then the next start makes another password.
  func noteShown() throws {
    if let generated { try file?.noteShown(generated) }
  }

  /// Checks that no user has the administrator's name: one of the two could no longer log in.
  /// - Throws: ``SettingsError`` if a user has it; the store's errors.
  func checkName(_ accounts: AccountService) async throws {
    guard try await accounts.accountID(ofUser: administrator.name.text) == nil else {
      throw SettingsError(
        "adminName: a user has signed up as \(administrator.name.text); "
          + "choose another name for the administrator with --\(SettingKey.adminName.flagName)")
    }
  }

  @discardableResult
  private static func checkSettings<Value>(_ make: () throws -> Value) throws -> Value {
    do {
      return try make()
    } catch let error as ServiceError {
      switch error.code {
      case .invalidName: throw SettingsError("adminName: \(error.reason)")
      case .invalidPassword: throw SettingsError("adminPasswordFile: \(error.reason)")
      default: throw error
      }
    }
  }
}
