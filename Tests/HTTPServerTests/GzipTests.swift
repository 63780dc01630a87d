import HTTPServer
import Testing

struct GzipTests {
  /// Bytes with some repetition.
  private func bytes(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 28)
    }
  }

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 300_000], [1, 6, 9])
  func bytesComeBack(count: Int, level: Int) throws {
    let bytes = bytes(count)
    let packed = try GzipWriter.deflate(bytes, level: level)
    #expect(try GzipReader.inflate(packed, limit: count) == bytes)
  }

  @Test func whatIsTakenInBetweenIsTheBeginningOfTheWhole() throws {
    let all = bytes(300_000)
    let writer = try GzipWriter(level: 4)
    var packed: [UInt8] = []
    for start in stride(from: 0, to: all.count, by: 100_000) {
      writer.append(all[start..<start + 100_000])
      packed += writer.takePacked()
    }
    packed += writer.finish()
    #expect(try GzipReader.inflate(packed, limit: all.count) == all)
  }

  @Test(arguments: [Int.min, -1, 0, 10, Int.max])
  func levelIsBroughtIntoRange(level: Int) throws {
    let packed = try GzipWriter.deflate(bytes(1_000), level: level)
    #expect(try GzipReader.inflate(packed, limit: 1_000) == bytes(1_000))
  }

  @Test func repetitionPacksWell() throws {
    #expect(try GzipWriter.deflate([UInt8](repeating: 65, count: 100_000)).count < 200)
  }

  /// What `gzip -9` makes of a file `a.txt` with the text `hello`: its header has a name.
  @Test func fileOfTheCommandIsRead() throws {
    let packed: [UInt8] = [
      0x1F, 0x8B, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x61, 0x2E, 0x74, 0x78, 0x74,
      0x00,
      0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
    ]
    #expect(try GzipReader.inflate(packed, limit: 5) == Array("hello".utf8))
  }

  @Test func membersFollowEachOther() throws {
    let packed =
      try GzipWriter.deflate(bytes(70_000)) + GzipWriter.deflate([]) + GzipWriter.deflate([1, 2])
    #expect(try GzipReader.inflate(packed, limit: 70_002) == bytes(70_000) + [1, 2])
    #expect(throws: CompressionError.tooLarge) { try GzipReader.inflate(packed, limit: 70_001) }
  }

  @Test(arguments: [1, 7, 1_000, 100_000])
  func aStreamIsUnpackedAsItComes(piece: Int) throws {
    let all = bytes(200_000)
    let packed = try GzipWriter.deflate(all) + GzipWriter.deflate([1, 2])
    let reader = try GzipReader()
    reader.limit = 200_002
    var unpacked: [UInt8] = []
    for start in stride(from: 0, to: packed.count, by: piece) {
      try reader.append(Array(packed[start..<min(start + piece, packed.count)]))
      while !reader.isComplete, !reader.needsBytes {
        try reader.unpackPiece()
        #expect(reader.unpacked.count <= GzipReader.pieceBytes)
        unpacked += reader.takeUnpacked()
      }
    }
    #expect(reader.isComplete && unpacked == all + [1, 2])
    #expect(throws: CompressionError.self) {
      try reader.append([0x1F, 0x8B, 7, 0])
      while !reader.needsBytes { try reader.unpackPiece() }
    }
  }

  @Test func aStreamIsTooLargeAtItsLimitWhateverWasTaken() throws {
    let reader = try GzipReader()
    reader.limit = 199_999
    try reader.append(try GzipWriter.deflate(bytes(200_000)))
    #expect(throws: CompressionError.tooLarge) {
      while !reader.isComplete {
        try reader.unpackPiece()
        _ = reader.takeUnpacked()
      }
    }
  }

  @Test func everyTruncationIsMalformed() throws {
    let packed = try GzipWriter.deflate(bytes(500))
    for count in 0..<packed.count {
      #expect(throws: CompressionError.malformed) {
        try GzipReader.inflate(Array(packed.prefix(count)), limit: 1_000)
      }
    }
  }

  @Test(arguments: [[0], [0x1F], [0x1F, 0x8B], Array("{}".utf8)] as [[UInt8]])
  func whatFollowsTheLastMemberIsMalformed(rest: [UInt8]) throws {
    let packed = try GzipWriter.deflate([1, 2, 3]) + rest
    #expect(throws: CompressionError.malformed) { try GzipReader.inflate(packed, limit: 1_000) }
  }

  @Test(arguments: [
    Array("{}".utf8), [0x78, 0x9C, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01], [0x03, 0x00],
  ])
  func otherFormatsAreMalformed(bytes: [UInt8]) {
    #expect(throws: CompressionError.malformed) { try GzipReader.inflate(bytes, limit: 1_000) }
  }

  @Test func changedBitsAreNeverTakenForOtherContent() throws {
    let bytes = bytes(200)
    let packed = try GzipWriter.deflate(bytes)
    for bit in 0..<packed.count * 8 {
      var changed = packed
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      // A bit of the header's time, flags or system changes nothing.
      guard let result = try? GzipReader.inflate(changed, limit: 1_000) else { continue }
      #expect(result == bytes)
    }
  }

  @Test(.bug(id: "H08"), arguments: [0, 1, 65_535, 65_536, 100_000])
  func bombStopsAtTheLimit(limit: Int) throws {
    let bomb = try GzipWriter.deflate([UInt8](repeating: 0, count: 64 << 20), level: 1)
    #expect(throws: CompressionError.tooLarge) { try GzipReader.inflate(bomb, limit: limit) }
  }

  @Test func exactlyTheLimitIsTaken() throws {
    let packed = try GzipWriter.deflate(bytes(1_000))
    #expect(try GzipReader.inflate(packed, limit: 1_000).count == 1_000)
    #expect(throws: CompressionError.tooLarge) { try GzipReader.inflate(packed, limit: 999) }
    #expect(throws: CompressionError.tooLarge) { try GzipReader.inflate(packed, limit: -1) }
  }

  @Test func readerUnpacksPieceByPieceAndGoesOnWhereItWas() throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let reader = try GzipReader(
      GzipWriter.deflate(bytes) + GzipWriter.deflate([1, 2]), limit: 400_000)
    var pieces = 0
    while !reader.isComplete {
      let before = reader.unpacked.count
      try reader.unpackPiece()
      #expect(reader.unpacked.count - before <= GzipReader.pieceBytes)
      pieces += 1
    }
    #expect(reader.unpacked == bytes + [1, 2])
    #expect(pieces > 4)
    try reader.unpackPiece()
    #expect(reader.unpacked.count == 300_002)
  }
}
