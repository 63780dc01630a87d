import Hotels
import IPAddresses
import Testing

@testable import SearchProxy

/// The addresses to which connections to an upstream may lead.
@Suite struct AddressRuleTests {
  /// FAULTS U05.
  @Test(
    .bug(id: "U05"),
    arguments: [
      "127.0.0.1", "127.255.0.9", "0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255",
      "::",
      "::1", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "fd00:ec2::254",
    ])
  func nameMayNotLeadToThisMachineOrItsLink(address: String) throws {
    let rule = try rule("http://hotels.example")
    #expect(!rule.allows(address))
    #expect(!rule.allows(nil))
    #expect(try self.rule("http://127.0.0.1").allows(address))
    #expect(try self.rule("http://[::1]:80").allows(address))
    #expect(try self.rule("http://localhost:8091").allows(address))
    #expect(try self.rule("http://a.localhost").allows(address))
    #expect(try !self.rule("http://notlocalhost").allows(address))
    #expect(try !self.rule("http://localhost.example").allows(address))
    #expect(!AddressRule.elsewhere.allows(address))
    #expect(AddressRule.elsewhere.allows("192.0.2.7"))
  }

  @Test(arguments: ["10.1.2.3", "192.168.0.1", "172.17.0.2", "93.184.216.34", "2001:db8::1"])
  func nameMayLeadElsewhere(address: String) throws {
    #expect(try rule("https://hotels.example").allows(address))
  }

  @Test func networksAreTheOnlyOnesWhereTheyAreNamed() throws {
    for url in ["http://hotels.example", "http://127.0.0.1", "http://localhost"] {
      let rule = try rule(url, "10.0.0.0/8", "::1")
      #expect(rule.allows("10.1.2.3") && rule.allows("::1") && rule.allows("::ffff:10.1.2.3"))
      #expect(!rule.allows("127.0.0.1") && !rule.allows("93.184.216.34"))
    }
  }

  /// FAULTS U05, DNS rebinding: the rule checks the address of the actual connection.
  @Test(.bug(id: "U05"), arguments: ["http://localhost", "http://127.0.0.1"])
  func nothingIsSentToAnAddressThatIsNotAllowed(url: String) async throws {
    let server = try ScriptedServer { _ in .json(Golden.v2) }
    defer { server.stop() }
    let base = try UpstreamURL("\(url):\(server.port)")
    let (refused, seen) = try await search(base, "10.0.0.0/8", times: 3)
    #expect(refused == .unavailable)
    #expect(seen == 0 && server.requests.isEmpty)
    let (allowed, _) = try await search(base, "127.0.0.0/8", "::1", times: 3)
    #expect(allowed == nil)
    #expect(server.requests.count == 3)
  }

  private func search(
    _ url: UpstreamURL, _ networks: String..., times: Int
  ) async throws -> (SearchError.Code?, Int) {
    let client = UpstreamClient(
      timeouts: patient,
      addresses: AddressRule(host: url.origin.host, networks: networks.compactMap(CIDRBlock.init)))
    let upstream = TravelSampleUpstream(client: client, baseURL: url)
    var (code, found) = (SearchError.Code?.none, 0)
    for _ in 0..<times {
      do throws(SearchError) {
        found += try await upstream.search(HotelQuery(description: "inn")).hotels.count
      } catch { code = error.code }
    }
    await client.shutdown()
    return (code, found)
  }

  private func rule(_ url: String, _ networks: String...) throws -> AddressRule {
    AddressRule(
      host: try UpstreamURL(url).origin.host, networks: networks.compactMap(CIDRBlock.init))
  }
}
