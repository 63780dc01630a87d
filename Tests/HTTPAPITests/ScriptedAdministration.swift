import Accounts
import Documents
import HTTPTypes
import Stores

@testable import HTTPAPI

/// An administration for tests. Its backup runs until it is cancelled, its verification finds one damage, its repair
/// needs another configuration, its moves tell what they were given, and its import counts bytes.
struct ScriptedAdministration: ServerAdministration {
  let history = HistoryRecorder()
  let jobs: AdministrationJobs

  init(now: @escaping @Sendable () -> Timestamp) { jobs = AdministrationJobs(now: now) }

  func upstreams() -> [UInt8] {
    let upstream = #"{"name":"1-test","breaker":"open","isRecovering":false,"calls":{"ok":3}}"#
    let cache = #"{"answerBytes":10,"maximumBytes":100,"hotels":2,"searches":{"miss":3}}"#
    return Array(#"{"upstreams":[\#(upstream)],"cache":\#(cache)}"#.utf8)
  }

  func writeConnections(addresses: Int, to writer: inout JSONWriter) {
    writer.member("open", 2)
    writer.member("refused", 0)
    writer.member("requests", 0)
    writer.member("refusedRequests", 0)
    writer.objects("addresses", of: ["192.0.2.1"].prefix(addresses)) { address, writer in
      writer.member("address", address)
      writer.member("connections", 2)
    }
  }

  func server() -> [UInt8] {
    Array(
      #"""
      {"version":"1.2.3","startedAt":"1970-01-01T00:00:00.000Z","diskBytes":1000,"freeBytes":400,
      "backups":"/backups"}
      """#.utf8)
  }

  func allBackups() -> [Administration.Backup] {
    [.init(name: "1970-01-01T000000.000Z", madeAt: Timestamp(seconds: 0), isWhole: true)]
  }

  func removeBackup(_ name: String) throws {
    guard name == "1970-01-01T000000.000Z" else { throw ServiceError(.missing, "no backup") }
  }

  func move(
    to url: String, _ password: Secret?, _ report: AdministrationJobs.Report
  ) -> AdministrationJobs.Outcome {
    report.progress(3, of: 9)
    report.finding("a line")
    return .init("\(url) \(password?.exposed ?? "none")")
  }

  func importHotels(
    _ options: Administration.ImportOptions, _ pieces: Administration.Pieces,
    _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome {
    var count = 0
    for try await piece in pieces {
      count += piece.count
      report.progress(count, of: nil)
    }
    guard count > 0 else { throw ServiceError(.importRefused, "There is no hotel") }
    return .init(
      "\(count) bytes\(options.isStrict ? ", strictly" : "")"
        + (options.isForced ? ", replacing" : "") + (options.isDryRun ? ", trying" : ""))
  }

  func undoCatalogue(_ report: AdministrationJobs.Report) throws -> AdministrationJobs.Outcome {
    report.finding("one finding")
    throw ServiceError(.undoOver, "There is no former catalogue")
  }

  func perform(
    _ work: StoreWork, _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome {
    switch work {
    case .backup:
      report.progress(1, of: 3)
      try await Task.sleep(for: .seconds(3_600))
      return .init("never")
    case .verification:
      report.finding("a file: a damage")
      return .init("1 damage", isDamaged: true)
    case .backupVerification(let name): return .init("\(name) is sound")
    case .repair: throw ServiceError(.configuration, "The stores are elsewhere")
    case .replacement(let store, let backup):
      return .init("\(store) from \(backup ?? "nothing")")
    }
  }
}
