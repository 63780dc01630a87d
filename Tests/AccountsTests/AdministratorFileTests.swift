import Documents
import Stores
import TestSupport
import Testing

@testable import Accounts

/// The random password of the administrator, and the file with its hash.
struct AdministratorFileTests {
  private static let scrypt = ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1)

  private static func file(in directory: TemporaryDirectory) throws -> AdministratorFile {
    AdministratorFile(
      directory.path + "/administrator.json", scrypt: try #require(Self.scrypt))
  }

  private static func opens(_ password: Secret, _ hash: PasswordHash) async throws -> Bool {
    let fixture = try await AccountFixture.make { settings in
      settings.administrator = try Administrator(name: "admin", password: hash)
    }
    let code = try await failure {
      _ = try await fixture.service.authenticate(
        username: "admin", password: password, from: AccountFixture.home)
    }
    return code == nil
  }

  @Test func drawnPasswordIsShownOnceAndGoesOnWorking() async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.file(in: directory)
    let first = try file.password()
    let password = try #require(first.fresh)
    try file.noteShown(first)
    let second = try Self.file(in: directory).password()
    #expect(second.fresh == nil)
    #expect(second.hash == first.hash)
    #expect(try await Self.opens(password, second.hash))
    #expect(try await !Self.opens(Secret(password.exposed + "x"), second.hash))
  }

  @Test(.bug(id: "F04")) func aPasswordThatNobodySawIsDrawnAnew() async throws {
    let directory = try TemporaryDirectory()
    let first = try Self.file(in: directory).password()
    let second = try Self.file(in: directory).password()
    let fresh = try #require(second.fresh)
    #expect(fresh != first.fresh)
    #expect(try await Self.opens(fresh, second.hash))
  }

  @Test(.bug(id: "S14")) func theFileHasTheHashAloneAndIsItsOwnersAlone() throws {
    let directory = try TemporaryDirectory()
    let password = try Self.file(in: directory).password()
    let text = try directory.text("administrator.json")
    #expect(!text.contains(try #require(password.fresh).exposed))
    #expect(directory.mode(of: "administrator.json") == 0o600)
    #expect(directory.names == ["administrator.json"])
    var dumped = "\(password)"
    dump(password, to: &dumped)
    #expect(!dumped.contains(Hex.string(password.hash.key)))
    #expect(!dumped.contains(try #require(password.fresh).exposed))
  }

  @Test func drawnPasswordsHave28CharactersOf32() throws {
    let directory = try TemporaryDirectory()
    var seen: Set<String> = []
    var characters: Set<UInt8> = []
    for _ in 0..<100 {
      let password = try Self.file(in: directory).reset().exposed
      let groups = password.utf8.split(separator: UInt8(ascii: "-"))
      #expect(groups.map(\.count) == [Int](repeating: 4, count: 7))
      characters.formUnion(groups.joined())
      seen.insert(password)
    }
    #expect(seen.count == 100)
    #expect(characters.count == 32)
    #expect(characters.isDisjoint(with: Array("01lo".utf8)))
  }

  @Test func resetPasswordReplacesTheOldOne() async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.file(in: directory)
    let first = try file.password()
    try file.noteShown(first)
    let reset = try Self.file(in: directory).reset()
    let now = try file.password()
    #expect(now.fresh == nil)
    #expect(try await Self.opens(reset, now.hash))
    #expect(try await !Self.opens(try #require(first.fresh), now.hash))
  }

  @Test(arguments: ["", "{}", "x", #"{"version":2,"shown":true,"password":{}}"#])
  func fileThatIsNotOursIsRefusedAndStays(text: String) throws {
    let directory = try TemporaryDirectory()
    try directory.write(text, to: "administrator.json")
    let file = try Self.file(in: directory)
    let error = #expect(throws: ServiceError.self) { try file.password() }
    #expect(error?.code == .keys)
    #expect(try directory.text("administrator.json") == text)
  }

  @Test func fileThatOthersMayReadIsRefused() throws {
    let directory = try TemporaryDirectory()
    let file = try Self.file(in: directory)
    try file.noteShown(try file.password())
    try directory.setMode(0o640, of: "administrator.json")
    let error = #expect(throws: ServiceError.self) { try file.password() }
    #expect(error?.code == .keys)
    #expect(error?.reason.contains("administrator's file") == true)
  }
}
