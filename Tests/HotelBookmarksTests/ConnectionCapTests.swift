import HTTPAPI
import HTTPServer
import Testing

@testable import HotelBookmarks

@Suite struct ConnectionCapTests {
  @Test(arguments: [
    (65_536, nil, RequestLimits.connections), (20_000, nil, 20_000 - 10_000 - 256),
    (1_024, nil, 1_024 - 510 - 256), (1_024, 4, 1_024 - 20 - 256), (200, nil, 64), (200, 1_000, 64),
  ])
  func connectionsLeaveDescriptorsForStores(descriptors: Int, stores: Int?, connections: Int) {
    #expect(
      ConnectionAssembly.connections(descriptors: descriptors, openStores: stores) == connections)
  }

  /// Regression: many open stores left 64 connections, and more stores failed to open, without a word at the start.
  @Test(arguments: [
    (nil, nil, false), (100_000, nil, true), (2_000, nil, false), (nil, 65_537, true),
    (10_000, 20_000, true), (4_000, 20_000, false),
  ])
  func settingsThatNeedMoreDescriptorsThanThereAre(stores: Int?, connections: Int?, isShort: Bool) {
    var settings = Settings()
    (settings.openStores, settings.connections) = (stores, connections)
    let shortage = ConnectionAssembly.shortage(of: settings, descriptors: 65_536)
    #expect((shortage != nil) == isShort)
    #expect(shortage?.contains("the limit is 65536") != false)
    settings.database = "postgres://localhost/x"
    #expect(
      (ConnectionAssembly.shortage(of: settings, descriptors: 65_536) != nil)
        == ((connections ?? 0) > 65_000))
  }

  @Test func certificateThatIsNoneIsAConfigurationFailure() throws {
    var settings = Settings()
    settings.tlsCertificateFile = "/nonexistent/certificate.pem"
    settings.tlsKeyFile = "/nonexistent/key.pem"
    let failure = #expect(throws: SettingsError.self) { try ConnectionAssembly(settings) }
    #expect(failure.map { StartFailure.isConfiguration($0) } == true)
  }
}
