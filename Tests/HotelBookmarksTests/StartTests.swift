import Accounts
import Documents
import Foundation
import NIOCore
import SQLiteEngine
import Stores
import Testing

@testable import HotelBookmarks

@Suite struct StartTests {
  private struct MultilineError: Error, CustomStringConvertible {
    let description = "one\ntwo\r\nthree\u{2028}four"
  }

  @Test(
    arguments: [
      ("127.0.0.1", nil, "http://127.0.0.1:81"), ("::1", nil, "http://[::1]:81"),
      ("0.0.0.0", "https://hotels.example", "https://hotels.example"),
      ("0.0.0.0", nil, "http://127.0.0.1:81"), ("::", nil, "http://[::1]:81"),
    ] as [(String, String?, String)])
  func bannerHasThreeCallsToTry(hostname: String, publicURL: String?, url: String) {
    var settings = Settings()
    settings.hostname = hostname
    settings.publicURL = publicURL
    let text = StartupBanner.text(settings, port: 81)
    let lines = text.split(separator: "\n")
    #expect(lines.first?.hasSuffix(" at " + url) == true)
    let calls = lines.filter { $0.contains("curl ") }
    #expect(calls.count == 3)
    for call in calls { #expect(call.contains(url + "/v1/")) }
  }

  /// Regression: the banner suggested a hotel that another upstream may not have.
  @Test func bannerSuggestsAHotelThatIsFound() {
    let text = StartupBanner.text(Settings(), port: 1)
    #expect(!text.contains("hotel_25510") && text.contains("/v1/bookmarks/$HOTEL"))
  }

  @Test func bannerIsALineOfJSONWhereLogsAre() throws {
    var settings = Settings()
    settings.data = "a\"b"
    let line = StartupBanner.json(
      settings, port: 81, operationsPort: 82, password: Secret("abcd-efgh"),
      now: Timestamp(seconds: 1_800_000_000))
    #expect(!line.contains("\n"))
    let root = try ParsedJSON(Array(line.utf8), limits: .small).root
    #expect(root["message"]?.string?.hasSuffix(" at http://127.0.0.1:81 is up") == true)
    #expect(root["data"]?.string == "a\"b" && root["time"]?.string?.hasPrefix("2027-01-15") == true)
    #expect(root["operations"]?.string == "http://127.0.0.1:82")
    #expect(root["password"]?.string == "abcd-efgh" && root["administrator"]?.string == "admin")
    let usual = StartupBanner.json(settings, port: 81, now: Timestamp(seconds: 0))
    #expect(!usual.contains("password"))
  }

  @Test func bannerSaysThatPagesNeedAURLWithoutAPath() throws {
    var settings = Settings()
    let words = "no web page, /docs and /admin: they need a public URL without a path"
    for (url, isMissing) in [("https://a.example", false), ("https://a.example/pre", true)] {
      settings.publicURL = url
      let lines = StartupBanner.text(settings, port: 1).split(separator: "\n")
      #expect(lines.contains { $0 == words } == isMissing)
      let line = StartupBanner.json(settings, port: 1, now: Timestamp(seconds: 0))
      let root = try ParsedJSON(Array(line.utf8), limits: .small).root
      #expect(root["missing"]?.string == (isMissing ? words : nil))
    }
  }

  @Test func bannerNamesTheUpstream() {
    var settings = Settings()
    #expect(StartupBanner.text(settings, port: 1).contains("embedded"))
    settings.upstreams = [.travelSample("http://up.example")]
    #expect(StartupBanner.text(settings, port: 1).contains("http://up.example"))
  }

  @Test func servedContractIsTheFile() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = try Data(contentsOf: root.appending(path: "openapi.yaml"))
    #expect(Contract.text == [UInt8](file))
  }

  @Test func failureIsOneLine() {
    let errors: [any Error] = [
      MultilineError(), SettingsError("port must be\na number"),
      ServiceError(.keys, "No keys.", detail: "a\nb"), ServiceError.taken,
      ServiceError(.storage, "why", detail: "a\nb"), IOError(errnoCode: 98, reason: "bind"),
    ]
    for error in errors {
      let line = StartFailure.line(error)
      #expect(!line.isEmpty)
      #expect(!line.contains { $0.isNewline })
    }
    #expect(StartFailure.line(ServiceError(.keys, "No keys.", detail: "a b")) == "No keys. (a b)")
    #expect(StartFailure.line(SettingsError("words")) == "words")
    #expect(StartFailure.line(MultilineError()) == "one two three four")
  }

  @Test func configurationFailuresAreTheOperatorsToFix() {
    #expect(StartFailure.isConfiguration(SettingsError("")))
    #expect(StartFailure.isConfiguration(ServiceError(.keys, "")))
    #expect(!StartFailure.isConfiguration(ServiceError.taken))
    #expect(!StartFailure.isConfiguration(ServiceError(.storage, "")))
    #expect(!StartFailure.isConfiguration(MultilineError()))
  }
}
