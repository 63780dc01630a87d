import Accounts
import Foundation
import IPAddresses
import SQLiteEngine
import Stores
import TestSupport
import Testing

@testable import HotelBookmarks

/// Where the administrator's password comes from.
@Suite struct AdministratorStartTests {
  private static let address = ClientAddress("192.0.2.1")

  private static func settings(
    _ directory: TemporaryDirectory, password: String? = nil, name: String? = nil
  ) throws -> Settings {
    var settings = Settings()
    settings.data = directory.path
    if let name { settings.adminName = name }
    if let password {
      settings.adminPasswordFile = directory.path + "/secret"
      try Data(password.utf8).write(to: URL(filePath: directory.path + "/secret"))
    }
    return settings
  }

  /// Uses accounts as a server with these settings does.
  private static func serve<Value>(
    _ settings: Settings, _ work: (AdministratorAssembly, AccountService) async throws -> Value
  ) async throws -> Value {
    let engine = try await FileEngine.open(directory: settings.data)
    let stores = ServiceAssembly.stores(over: StorageAssembly(engine), settings)
    let result: Result<Value, any Error>
    do {
      let assembly = try AdministratorAssembly(settings)
      var accounts = AccountSettings()
      accounts.administrator = assembly.administrator
      let service = AccountService(
        stores: stores, keys: try SigningKeys.temporary(now: SystemClock.now()),
        settings: accounts, now: SystemClock.now, hashing: { work in work() },
        adoptGuest: { _, _, _ in true }, lists: .none)
      result = .success(try await work(assembly, service))
    } catch {
      result = .failure(error)
    }
    await stores.close()
    await engine.close()
    return try result.get()
  }

  private static func refusal(_ settings: Settings) async throws -> String {
    try await #require(throws: SettingsError.self) {
      try await serve(settings) { assembly, accounts in try await assembly.checkName(accounts) }
    }.description
  }

  private static func kind(
    _ name: String, _ password: String, _ accounts: AccountService
  ) async throws -> Principal.Kind? {
    do {
      return try await accounts.authenticate(
        username: name, password: Secret(password), from: address
      ).kind
    } catch {
      #expect(ServiceError(error)?.code == .badCredentials)
      return nil
    }
  }

  @Test func firstStartDrawsAPasswordThatLaterOnesKeep() async throws {
    let settings = try Self.settings(try TemporaryDirectory())
    let password = try await Self.serve(settings) { assembly, accounts in
      let shown = try await assembly.passwordToShow()
      let fresh = try #require(shown).exposed
      try assembly.noteShown()
      #expect(try await Self.kind("admin", fresh, accounts) == .administrator)
      return fresh
    }
    try await Self.serve(settings) { assembly, accounts in
      let shown = try await assembly.passwordToShow()
      #expect(shown == nil)
      let right = try await Self.kind("admin", password, accounts)
      #expect(right == .administrator)
      let wrong = try await Self.kind("admin", password + "x", accounts)
      #expect(wrong == nil)
    }
  }

  /// Regression: people could not reach their bookmarks because of a file that only the administrator needs.
  @Test func damagedFileLocksTheAdministratorOutAndNoOneElse() async throws {
    let directory = try await TemporaryDirectory.withData()
    let settings = try Self.settings(directory)
    _ = try await UserAdministration(StorageLocation(data: directory.path)).add(
      "ada", password: "long enough")
    let file = DataFiles.administrator(in: directory.path)
    try Data("{".utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    try await Self.serve(settings) { assembly, accounts in
      #expect(assembly.isLocked)
      let shown = try await assembly.passwordToShow()
      #expect(shown == nil)
      try assembly.noteShown()
      #expect(try await Self.kind("ada", "long enough", accounts) == .user)
      let administrator = try await Self.kind("admin", "some password", accounts)
      #expect(administrator == nil)
    }
    let kept = try Data(contentsOf: URL(filePath: file))
    #expect(kept == Data("{".utf8))
    #expect(DataFiles.findings(in: directory.path).map(\.file) == ["administrator.json"])
    let reset = try await PasswordReset.run(StorageLocation(data: directory.path))
    try await Self.serve(settings) { _, accounts in
      let kind = try await Self.kind("admin", reset, accounts)
      #expect(kind == .administrator)
    }
    #expect(DataFiles.findings(in: directory.path).isEmpty)
  }

  @Test(arguments: ["a good secret\n", "a good secret\r\n", "a good secret"])
  func passwordOfAFileIsTaken(text: String) async throws {
    let directory = try TemporaryDirectory()
    let settings = try Self.settings(directory, password: text, name: "Root")
    try await Self.serve(settings) { assembly, accounts in
      let shown = try await assembly.passwordToShow()
      #expect(shown == nil)
      try assembly.noteShown()
      #expect(try await Self.kind("root", "a good secret", accounts) == .administrator)
    }
    let kept = DataFiles.administrator(in: directory.path)
    #expect(!FileManager.default.fileExists(atPath: kept))
  }

  @Test(arguments: ["", "\n", "short", "changeme", "Password1\n", "ops-ops!"])
  func weakPasswordOfAFileRefusesToStart(text: String) async throws {
    let settings = try Self.settings(try TemporaryDirectory(), password: text, name: "ops-ops!")
    #expect(try await Self.refusal(settings).hasPrefix("adminPasswordFile: "))
  }

  @Test func fileThatCannotBeReadRefusesToStart() async throws {
    let directory = try TemporaryDirectory()
    var settings = try Self.settings(directory)
    for path in [directory.path + "/none", directory.path] {
      settings.adminPasswordFile = path
      let reason = try await Self.refusal(settings)
      #expect(reason.hasPrefix("adminPasswordFile: ") && reason.contains(path))
    }
  }

  @Test(arguments: ["", "a/b", "a:b", "-"]) func nameThatNobodyCanHaveRefusesToStart(
    name: String
  ) async throws {
    let directory = try TemporaryDirectory()
    let settings = try Self.settings(directory, name: name)
    #expect(try await Self.refusal(settings).hasPrefix("adminName: "))
    let kept = DataFiles.administrator(in: directory.path)
    #expect(!FileManager.default.fileExists(atPath: kept))
  }

  @Test func nameOfAUserRefusesToStart() async throws {
    let directory = try await TemporaryDirectory.withData()
    _ = try await UserAdministration(StorageLocation(data: directory.path)).add(
      "Chief", password: "long enough")
    let settings = try Self.settings(directory, password: "a good secret", name: "chief")
    let reason = try await Self.refusal(settings)
    #expect(reason.contains("chief") && reason.contains("--admin-name"))
    let other = try Self.settings(directory, password: "a good secret", name: "boss")
    try await Self.serve(other) { assembly, accounts in
      try await assembly.checkName(accounts)
      #expect(try await Self.kind("chief", "long enough", accounts) == .user)
    }
  }

  @Test func resetPasswordReplacesTheGeneratedOne() async throws {
    let settings = try Self.settings(try TemporaryDirectory())
    let first = try await Self.serve(settings) { assembly, _ in
      try assembly.noteShown()
      let error = try await #require(throws: DataDirectoryError.self) {
        try await PasswordReset.run(StorageLocation(data: settings.data))
      }
      #expect(error.code == .inUse)
      let shown = try await assembly.passwordToShow()
      return try #require(shown).exposed
    }
    let second = try await PasswordReset.run(StorageLocation(data: settings.data))
    try await Self.serve(settings) { assembly, accounts in
      let shown = try await assembly.passwordToShow()
      #expect(shown == nil)
      let former = try await Self.kind("admin", first, accounts)
      #expect(former == nil)
      let present = try await Self.kind("admin", second, accounts)
      #expect(present == .administrator)
    }
  }

  @Test func bannerShowsAFreshPasswordAndNoOther() {
    var settings = Settings()
    settings.adminName = "boss"
    let fresh = StartupBanner.text(settings, port: 1, password: Secret("abcd-efgh"))
    #expect(fresh.contains("administrator: boss, password: abcd-efgh\n"))
    #expect(fresh.contains("reset-password"))
    let usual = StartupBanner.text(settings, port: 1)
    #expect(!usual.contains("password"))
    #expect(fresh.split(separator: "\n").count == usual.split(separator: "\n").count + 2)
    #expect(!usual.contains("\n\n") && !fresh.contains("\n\n"))
  }
}
