import Testing

@testable import HTTPAPI

@Suite struct MultipartReaderTests {
  private static let body =
    "preamble\r\n--x \t\r\nContent-Type: application/json\r\n\r\n{}\r\n--x\r\n\r\na\r\n--y\r\n-\r\n--x\r\n"
    + "A: b\r\n\r\n\r\n--x--epilogue"

  /// The parts: their fields, and their bytes joined.
  private func parts(
    _ text: String, inPartsOf count: Int
  ) throws -> (parts: [(fields: [String: String], text: String)], isComplete: Bool) {
    var (reader, parts) = (MultipartReader(boundary: "x"), [([String: String], String)]())
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      reader.append(Array(rest.prefix(count)))
      while let event = try reader.next() {
        switch event {
        case .begin(let fields): parts.append((fields, ""))
        case .bytes(let bytes): parts[parts.count - 1].1 += String(decoding: bytes, as: UTF8.self)
        case .end: parts[parts.count - 1].1 += "|"
        }
      }
      rest = rest.dropFirst(count)
    }
    return (parts, reader.isComplete)
  }

  @Test(arguments: [1, 2, 3, 7, 1_000])
  func partsAreTheSameHoweverTheBytesCome(count: Int) throws {
    let found = try parts(Self.body, inPartsOf: count)
    #expect(found.isComplete)
    #expect(found.parts.map(\.text) == ["{}|", "a\r\n--y\r\n-|", "|"])
    #expect(found.parts.map(\.fields) == [["content-type": "application/json"], [:], ["a": "b"]])
  }

  @Test func malformedPartsAreRefused() {
    let long = String(repeating: "b", count: 9_000)
    for text in [
      "--xy\r\n\r\na\r\n--x--", "--x\r\nA: \(long)\r\n\r\na\r\n--x--", "--x\r\n" + long,
    ] {
      #expect(throws: MultipartReader.Failure.malformed) { try parts(text, inPartsOf: 1_000) }
    }
  }

  /// Regression: all parts of what had come were read at once, and each moved the bytes behind it: 6,500 short parts took
  /// 390 ms in one piece.
  @Test func nothingIsReadBehindThePresentPart() throws {
    var reader = MultipartReader(boundary: "x")
    reader.append(Array("--x\r\n\r\na\r\n--xyz".utf8))
    #expect(try reader.next() == .begin([:]))
    #expect(try reader.next() == .bytes([0x61]))
    #expect(try reader.next() == .end)
    #expect(throws: MultipartReader.Failure.malformed) { try reader.next() }
  }

  /// CouchDB writes an attachment's name into a field as it is, line ends included.
  @Test func linesOfANameAreNoFields() throws {
    let found = try parts(
      "--x\r\nA: b\nno field\r\na: c\r\n\r\nd\r\n--x--", inPartsOf: 1_000)
    #expect(found.parts.map(\.text) == ["d|"])
    #expect(found.parts.map(\.fields) == [["a": "b"]])
  }

  @Test(arguments: ["", "--x\r\n\r\na", "--x\r\n\r\na\r\n--x", "x--", "\r\n--"])
  func partsWithoutAnEndAreIncomplete(text: String) throws {
    #expect(try !parts(text, inPartsOf: 1_000).isComplete)
  }

  @Test(
    arguments: [
      ("multipart/related; boundary=x", "x"), (#"Multipart/Related; a=b; BOUNDARY="x y""#, "x y"),
      ("multipart/related", nil), ("multipart/mixed; boundary=x", nil),
      ("multipart/related; boundary=", nil), (#"multipart/related; boundary="""#, nil),
      ("multipart/related; boundary=" + String(repeating: "x", count: 71), nil),
    ] as [(String, String?)])
  func boundaryIsReadFromTheType(type: String, boundary: String?) {
    #expect(MultipartReader.boundary(of: type) == boundary)
  }
}
