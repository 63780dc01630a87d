import Stores
import Testing

@testable import Accounts

struct PasswordHashingTests {
  @Test(.bug(id: "S10")) func theRefusalSaysThatTheServiceIsBusy() async throws {
    let parameters = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let hashing = PasswordHashing(
      run: { work in
        begin.yield()
        for await _ in released {}
        return work()
      }, atOnce: 1, waiting: 0, parameters: parameters)
    let first = Task { try await hashing.hash(Array("password".utf8)) }
    for await _ in begun { break }
    do {
      _ = try await hashing.hash(Array("password".utf8))
      Issue.record("There was no place")
    } catch let error as ServiceError {
      #expect(error.code == .hashingBusy)
      #expect(error.retryAfterSeconds == 1)
    }
    release.finish()
    _ = try await first.value
  }

  @Test func aPoolThatStopsIsBusy() async throws {
    struct Stopped: Error {}
    let parameters = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
    let hashing = PasswordHashing(
      run: { _ in throw Stopped() }, atOnce: 1, waiting: 1, parameters: parameters)
    for _ in 0..<3 {
      let result = try await failure { _ = try await hashing.hash(Array("password".utf8)) }
      #expect(result == .hashingBusy)
    }
  }

  @Test func theHashIsScrypt() async throws {
    // RFC 7914 section 12: N = 1024, r = 8, p = 16 over "password" and "NaCl", the first 32 bytes.
    let parameters = try #require(ScryptParameters(rounds: 1_024, blockSize: 8, parallelism: 16))
    let hashing = PasswordHashing(run: { $0() }, atOnce: 1, waiting: 1, parameters: parameters)
    let key: [UInt8] = [
      0xFD, 0xBA, 0xBE, 0x1C, 0x9D, 0x34, 0x72, 0x00, 0x78, 0x56, 0xE7, 0x19, 0x0D, 0x01, 0xE9,
      0xFE,
      0x7C, 0x6A, 0xD7, 0xCB, 0xC8, 0x23, 0x78, 0x30, 0xE7, 0x73, 0x76, 0x63, 0x4B, 0x37, 0x31,
      0x62,
    ]
    let hash = PasswordHash(parameters: parameters, salt: Array("NaCl".utf8), key: key)
    #expect(try await hashing.verify(Array("password".utf8), against: hash))
    #expect(try await !hashing.verify(Array("passwore".utf8), against: hash))
  }

  @Test(arguments: [
    (0, 8, 1), (1, 8, 1), (3, 8, 1), (1 << 21, 1, 1), (1 << 15, 0, 1), (1 << 15, 8, 0),
    (1 << 15, 33, 1), (1 << 20, 8, 1), (Int.max, Int.max, Int.max), (Int.min, -1, -1),
  ])
  func parametersOutOfBoundsAreRefused(rounds: Int, blockSize: Int, parallelism: Int) {
    #expect(
      ScryptParameters(rounds: rounds, blockSize: blockSize, parallelism: parallelism) == nil)
  }
}
