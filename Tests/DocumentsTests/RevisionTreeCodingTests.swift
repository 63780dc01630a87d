import Documents
import TestSupport
import Testing

@Suite struct RevisionTreeCodingTests {
  private static let hash = "0123456789abcdef0123456789abcdef"

  static let drawings = [
    "", "1-a", "1-a(2-b† 2-c*)", "1-a 1-b†", "7-x(8-y(9-z)) 1-a",
    "1-\(hash)(2-\(hash) 2-0000000000000000000000000000000g)",
    "9007199254740992-a", "127-a(128-b) 300-c(301-d†)",
  ]

  @Test(arguments: drawings)
  func decodesWhatItEncoded(_ drawing: String) throws {
    let tree = try TreeDrawing.tree(drawing)
    #expect(try decode(tree.encoded) == tree)
  }

  @Test func aHashedRevisionTakesSeventeenBytes() throws {
    var tree = RevisionTree()
    var parent: RevisionID?
    for generation in 1...100 {
      let revision = RevisionID(generation: generation, digest: Self.hash)
      try tree.insert(revision, below: parent, isDeleted: false)
      parent = revision
    }
    #expect(tree.encoded.count == 100 * 17 + 3)
  }

  @Test(arguments: drawings)
  func everyCutIsDamage(_ drawing: String) throws {
    let bytes = try TreeDrawing.tree(drawing).encoded
    for length in bytes.indices {
      #expect(isDamage { try decode(Array(bytes[..<length])) }, "cut at \(length)")
    }
    #expect(isDamage { try decode(bytes + [0]) })
  }

  @Test(arguments: drawings)
  func everyChangedByteIsDamageOrAnotherTree(_ drawing: String) throws {
    let bytes = try TreeDrawing.tree(drawing).encoded
    for index in bytes.indices {
      for value in UInt8.min...UInt8.max where value != bytes[index] {
        var changed = bytes
        changed[index] = value
        try expectDamageOrIdentity(changed)
      }
    }
  }

  @Test func randomBytesNeverTrap() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<repetitions(5_000, nightly: 20_000) {
      var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      if !bytes.isEmpty { bytes[0] = 1 }
      if bytes.count > 2 { bytes[2] &= 31 }
      try expectDamageOrIdentity(bytes)
    }
  }

  @Test func hugeNumbersAreDamage() {
    let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
    let endless = [UInt8](repeating: 0xFF, count: 12)
    for number in [huge, endless] {
      #expect(isDamage { try decode([1] + number) })
      #expect(isDamage { try decode([1, 1, 16] + number + [1, 0x61]) })
      #expect(isDamage { try decode([1, 1, 18, 1] + number + [0x61]) })
      #expect(isDamage { try decode([1, 2, 16, 1, 1, 0x61, 2] + number + [2, 1, 0x62]) })
    }
  }

  private func expectDamageOrIdentity(_ bytes: [UInt8]) throws {
    do {
      let tree = try decode(bytes)
      #expect(tree.encoded == bytes)
    } catch let error as DocumentError {
      #expect(error.code == .damaged)
    }
  }

  private func decode(_ bytes: [UInt8]) throws -> RevisionTree {
    try bytes.withUnsafeBytes { try RevisionTree(decoding: $0) }
  }

  private func isDamage(_ read: () throws -> RevisionTree) -> Bool {
    do { _ = try read() } catch { return (error as? DocumentError)?.code == .damaged }
    return false
  }
}
