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

  @Test func certificateThatIsNoneIsAConfigurationFailure() throws {
    var settings = Settings()
    settings.tlsCertificateFile = "/nonexistent/certificate.pem"
    settings.tlsKeyFile = "/nonexistent/key.pem"
    let failure = #expect(throws: CertificateFailure.self) { try ConnectionAssembly(settings) }
    #expect(failure.map { StartFailure.isConfiguration($0) } == true)
  }
}
