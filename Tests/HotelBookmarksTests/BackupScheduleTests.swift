import Documents
import Foundation
import Glibc
import HTTPAPI
import Logging
import SQLiteEngine
import Synchronization
import TestSupport
import Testing

@testable import HotelBookmarks

@Suite struct BackupScheduleTests {
  /// A directory of backups, and a clock that moves a step with each look at it.
  private final class Fixture: Sendable {
    let directory: TemporaryDirectory
    let backups: KeptBackups
    private let step: Int64
    private let seconds = Mutex<Int64>(1_000_000)
    private let attempts = Mutex(0)
    /// How the attempts end, the first one first; nil for a backup that is made.
    private let failures: [(any Error)?]
    let times = BackupTimes(period: 100)

    init(step: Int64, failures: [(any Error)?] = []) throws {
      directory = try TemporaryDirectory()
      backups = KeptBackups(directory: directory.path + "/backups")
      self.step = step
      self.failures = failures
    }

    var now: Timestamp { Timestamp(seconds: seconds.withLock { $0 }) }
    var attemptCount: Int { attempts.withLock { $0 } }

    func make(_ time: Timestamp, isWhole: Bool = true) throws {
      let path = backups.path(at: time)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      guard isWhole else { return }
      try Data().write(to: URL(fileURLWithPath: path + "/" + BackupManifest.name))
    }

    /// Looks so many times whether a backup is due.
    /// - Returns: the names of the backups, the newest first.
    func look(
      _ count: Int, every period: Int64, keeping kept: Int = 3, isSound: Bool = true
    ) async throws -> [String] {
      let looks = Mutex(0)
      try await BackupSchedule(
        backups: backups, seconds: period, kept: kept,
        make: { removeOld in
          let number = self.attempts.withLock { count in
            defer { count += 1 }
            return count
          }
          if number < self.failures.count, let failure = self.failures[number] { throw failure }
          try self.make(self.now)
          if isSound { await removeOld() }
          return isSound
        },
        logger: Logger(label: "test"), now: { self.now }, times: times,
        sleep: { _ in
          self.seconds.withLock { $0 += self.step }
          guard
            looks.withLock({
              $0 += 1; return $0
            }) <= count
          else { throw CancellationError() }
        }
      ).run()
      return await backups.all().map(\.name)
    }
  }

  @Test func aBackupIsMadeWhenTheNewestIsOldEnoughAndTheOldestGo() async throws {
    let fixture = try Fixture(step: 1_800)
    let names = try await fixture.look(11, every: 3_600)
    #expect(fixture.attemptCount == 6)
    #expect(names.count == 3)
    #expect(names == names.sorted(by: >))
  }

  @Test func metricsTellWhenTheNewestBackupWasMade() async throws {
    let fixture = try Fixture(step: 1_800)
    #expect(fixture.times.samples.isEmpty)
    _ = try await fixture.look(1, every: 3_600)
    // It has looked, and then made the first one.
    #expect(fixture.times.samples.map(\.value) == [0, 100])
    let made = fixture.now.milliseconds / 1_000
    _ = try await fixture.look(1, every: 3_600)
    #expect(fixture.times.samples.map(\.value)[0] <= Double(made))
    #expect(fixture.times.samples.map(\.value)[0] > Double(made - 3_600))
  }

  @Test func aFailureIsFollowedByARest() async throws {
    let fixture = try Fixture(step: 60, failures: [BackupError(.unreachable, "no disk"), nil])
    #expect(try await fixture.look(10, every: 86_400) == [])
    #expect(fixture.attemptCount == 1)
    #expect(try await fixture.look(2, every: 86_400).count == 1)
  }

  @Test func theAdministratorsWorkIsWaitedForWithoutARest() async throws {
    let busy = Problem.jobRunning
    let fixture = try Fixture(step: 60, failures: [busy, busy, nil])
    #expect(try await fixture.look(3, every: 86_400).count == 1)
  }

  @Test func aBackupThatIsCancelledIsMadeWhenTheNextOneIsDue() async throws {
    let fixture = try Fixture(step: 600, failures: [CancellationError()])
    #expect(try await fixture.look(6, every: 3_600) == [])
    #expect(fixture.attemptCount == 1)
    let later = try Fixture(step: 600, failures: [CancellationError()])
    #expect(try await later.look(7, every: 3_600).count == 1)
  }

  @Test func copiesOfADatabaseThatNobodyMakesAnyMoreAreRemoved() async throws {
    let fixture = try Fixture(step: 3_600)
    let paths = [1, 2].map { fixture.backups.path(at: Timestamp(seconds: $0)) + ".stores" }
    for path in paths + [fixture.directory.path + "/backups/mine.stores"] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try Data().write(to: URL(fileURLWithPath: path + "/lock"))
    }
    let descriptor = open(paths[1] + "/lock", O_RDONLY)
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    defer { close(descriptor) }
    _ = try await fixture.look(1, every: 3_600)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: fixture.directory.path + "/backups")
    #expect(
      names.filter { $0.hasSuffix(".stores") }.sorted() == [
        "1970-01-01T000002.000Z.stores", "mine.stores",
      ])
  }

  @Test func aClockThatWasSetBackDoesNotStopTheBackups() async throws {
    let fixture = try Fixture(step: 60)
    try fixture.make(Timestamp(seconds: 9_000_000))
    #expect(try await fixture.look(20, every: 86_400).count == 2)
  }

  @Test func backupsOfALaterTimeNeitherReplaceOthersNorAreReplaced() async throws {
    let fixture = try Fixture(step: 3_600)
    let sound = (1...3).map { Timestamp(seconds: $0 * 1_000) }
    for time in sound + [Timestamp(seconds: 9_000_000)] { try fixture.make(time) }
    let names = try await fixture.look(1, every: 86_400)
    // The one that was made replaces the oldest; the one of a later time stays.
    #expect(names.count == 4)
    #expect(names.first == "1970-04-15T040000.000Z")
    #expect(names.suffix(2) == ["1970-01-01T005000.000Z", "1970-01-01T003320.000Z"])
  }

  @Test func noBackupIsRemovedForOneThatLacksDamagedStores() async throws {
    let fixture = try Fixture(step: 3_600)
    #expect(try await fixture.look(5, every: 3_600, keeping: 1, isSound: false).count == 5)
    #expect(try await fixture.look(1, every: 3_600, keeping: 1).count == 1)
  }

  @Test func onlyWholeBackupsCountAndOtherEntriesStay() async throws {
    let fixture = try Fixture(step: 1)
    try fixture.make(Timestamp(seconds: 10))
    try fixture.make(Timestamp(seconds: 20), isWhole: false)
    try fixture.make(Timestamp(seconds: 30))
    for name in [
      "notes", "1970-01-01T000099.000Z", "1970-01-01T000010.000Z.partial-1",
      "1970-01-01T000005.000Z.removed",
    ] {
      try FileManager.default.createDirectory(
        atPath: fixture.backups.directory + "/" + name, withIntermediateDirectories: true)
    }
    let removed = try await fixture.backups.remove(
      keeping: 1, at: Timestamp(seconds: 100))
    #expect(removed == ["1970-01-01T000010.000Z"])
    #expect(await fixture.backups.all().map(\.isWhole) == [true, false])
    await #expect(throws: (any Error).self) { try await fixture.backups.remove("../backups") }
    await #expect(throws: (any Error).self) { try await fixture.backups.remove("notes") }
    let left = try FileManager.default.contentsOfDirectory(atPath: fixture.backups.directory)
    #expect(left.count == 5)
  }
}
