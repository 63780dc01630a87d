import Stores
import Testing

@testable import Accounts

/// The base64url encoding.
struct Base64URLTests {
  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy"),
  ])
  func theVectorsOfRFC4648(text: String, digits: String) {
    var output: [UInt8] = []
    Base64URL.append(Array(text.utf8), to: &output)
    #expect(String(decoding: output, as: UTF8.self) == digits)
    #expect(Base64URL.decode(Array(digits.utf8)) == Array(text.utf8))
  }

  @Test func everyByteComesBack() {
    let bytes = (0...255).map { UInt8($0) }
    for count in 0...256 {
      var output: [UInt8] = []
      Base64URL.append(Array(bytes.suffix(count)), to: &output)
      #expect(Base64URL.decode(output) == Array(bytes.suffix(count)))
    }
  }

  @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "Zm9vY", "Zm+v", "Zm/v", "Zm v", "Zm9v\n", "Zmé"])
  func otherSpellingsAreRefused(digits: String) {
    #expect(Base64URL.decode(Array(digits.utf8)) == nil)
  }
}
