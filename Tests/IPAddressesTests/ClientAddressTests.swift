import Testing

@testable import IPAddresses

/// Which addresses a limit takes for one.
struct ClientAddressTests {
  @Test(arguments: [
    ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"),
    ("2001:db8::1", "2001:db8:0:0::/64"), ("2001:0DB8:0:0:ffff::1", "2001:db8:0:0::/64"),
    ("2001:db8:0:1::1", "2001:db8:0:1::/64"), ("fe80::1%eth0", "fe80:0:0:0::/64"),
    ("::1", "0:0:0:0::/64"), ("", "unknown"), ("localhost", "unknown"), ("192.0.2.256", "unknown"),
    ("192.0.2.7, 10.0.0.1", "unknown"), ("192.0.2", "unknown"),
  ])
  func prefixes(text: String, prefix: String) {
    #expect(ClientAddress(text).prefix == prefix)
  }
}
