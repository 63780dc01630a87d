import Foundation

/// Content in gzip (RFC 1952).
enum Compressed {
  /// `{"data":[{"id":"hotel_1","name":"Zipped Inn"}]}`
  static let answer = bytes(
    "H4sIAAAAAAACA6tWSkksSVSyiq5WykxRslLKyC9JzYk3VNJRykvMTQUKRGUWFKSmKHjm5SnVxtYCANRU1k0vAAAA")

  /// `{"data":[],"context":"aaa…"}`, valid JSON of 200,024 bytes, packed into 257.
  static let bomb = bytes(
    "H4sIAAAAAAACA+3BoQ2AQBAEwF5WU8G3QhAXHgvmBAmhd2rAz8yTWV0Z67Zkv84+7s5IAQAA"
      + String(repeating: "A", count: 254)
      + "C/5f0A5fzMYlgNAwA=")

  private static func bytes(_ base64: String) -> [UInt8] {
    Data(base64Encoded: base64).map(Array.init) ?? []
  }
}
