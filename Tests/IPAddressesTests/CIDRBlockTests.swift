import IPAddresses
import Testing

@Suite struct CIDRBlockTests {
  @Test(arguments: [
    (
      "10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.1.1"],
      ["11.0.0.0", "9.255.255.255", "::a00:1"]
    ),
    ("10.0.0.0/9", ["10.127.0.1"], ["10.128.0.1"]),
    ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6", "192.0.2.8"]),
    ("172.16.0.0/12", ["172.16.0.1", "172.31.255.255"], ["172.32.0.0", "172.15.255.255"]),
    ("0.0.0.0/0", ["1.2.3.4", "203.0.113.9"], ["::1"]),
    ("fd00::/8", ["fd12::1"], ["fc00::1", "fe80::1"]),
    ("2001:db8::/32", ["2001:db8:1::1"], ["2001:db9::1"]),
    ("fe80::/10", ["fe80::1%eth0"], ["ff80::1"]),
    ("::1", ["::1"], ["::2", "0.0.0.1", "127.0.0.1"]),
  ])
  func holdsItsAddresses(text: String, inside: [String], outside: [String]) throws {
    let block = try #require(CIDRBlock(text))
    for address in inside {
      #expect(block.contains(try #require(IPAddress(address))), "\(address)")
    }
    for address in outside {
      #expect(!block.contains(try #require(IPAddress(address))), "\(address)")
    }
  }

  @Test(arguments: [
    "", "x", "/", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.1/8", "10.1.2.3/8", "10.0.0.0/-1",
    "10.0.0.0/+8", "10.0.0/8", "10.0.0.0/8/8", "10.0.0.0/8 ", "10.0.0.0 /8", "10.0.0.0/0x8",
    "10.0.0",
    "localhost", "10.0.0.0/99999999999999999999", "[::1]", "fe80::1%lo", "127.0.0.1\u{0}",
  ])
  func anythingElseIsNone(text: String) { #expect(CIDRBlock(text) == nil) }
}
