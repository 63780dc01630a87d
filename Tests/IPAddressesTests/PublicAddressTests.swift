import IPAddresses
import Testing

/// The addresses that a host may have which a client names.
struct PublicAddressTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "169.254.169.254", "0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1", "::1", "::",
    "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "2001:db8::1",
  ])
  func otherThanPublicOnesAreRefused(address: String) {
    #expect(!AddressRule.publicOnly.allows(address))
  }

  @Test(arguments: ["1.1.1.1", "172.32.0.1", "192.0.3.1", "2606:4700::1", "::ffff:1.1.1.1"])
  func publicOnesAreAllowed(address: String) {
    #expect(AddressRule.publicOnly.allows(address))
  }

  @Test func whatIsNoAddressIsRefused() {
    #expect(!AddressRule.publicOnly.allows(nil))
    #expect(!AddressRule.publicOnly.allows("/tmp/socket"))
  }
}
