import TestSupport
import Testing

@testable import Documents

/// A member of a text that arrives in pieces.
struct JSONScannerTests {
  @Test(
    arguments: [
      #"{"docs":[]}"#, #"{"docs":[{"a":[1,{"docs":[2]}]},{}],"new_edits":false}"#,
      #" { "x" : "docs" , "docs" : [ 1 , "a\"]" , [ [ ] , 2 ] , null , -1.5e3 ] , "y" : [ 1 ] } "#,
      #"{"a":{"docs":[1]},"d\u006fcs":["\\",{"b":"}\\\"]"}]}"#, #"{"docs":{"a":[1]}}"#,
      #"{"docs":"text","a":1}"#, #"{"docs": 12 }"#, #"{"a":["docs",[1]],"b":{}}"#, "[1,[2]]", "{}",
    ])
  func textInAnyPiecesHasTheSameParts(text: String) throws {
    let bytes = Array(text.utf8)
    let outline = try #require(JSONOutline(bytes, in: bytes.indices))
    let value = outline.isObject ? outline.value(named: "docs", in: bytes) : nil
    let array = value.flatMap { JSONOutline(bytes, in: $0) }.flatMap { $0.isObject ? nil : $0 }
    for length in [1, 2, 3, 7, bytes.count] {
      let scanner = Self.scan(bytes, by: length)
      #expect(scanner.count == bytes.count && !scanner.isRestTooLong)
      #expect(scanner.elements == (array?.parts.map(\.value) ?? []))
      #expect(scanner.value == (array == nil ? value : nil))
      let rest = try ParsedJSON(scanner.rest, limits: .small).root
      guard array != nil else { continue }
      #expect(rest["docs"]?.count == scanner.elements.count)
      #expect(rest["docs"]?.elements.allSatisfy { $0.int == 0 } == true)
    }
  }

  /// The elements are checked by whoever parses them, so each fault has to be in one of them or in the rest.
  @Test(
    arguments: [
      #"{"docs":[1 2]}"#, #"{"docs":[1,]}"#, #"{"docs":[,1]}"#, #"{"docs":[{}{}]}"#,
      #"{"docs":["a""b"]}"#, #"{"docs":["a"1]}"#, #"{"docs":[1:2]}"#, #"{"docs":[1}]"#,
      #"{"docs":[{"a":1]}]}"#, #"{"docs":[1]]}"#, #"{"docs":[1][2]}"#, #"{"docs":[1],"docs":[2]}"#,
      #"{"docs":[1]"#, #"{"docs":[1]}x"#, #"{"docs":[{"a":}]}"#, #"{"docs":["a]}"#,
      #"{"docs":[-]}"#,
      #"{"docs":[[}]}"#, #"}{"docs":[1]}"#, #"{"docs":[1]}{"docs":[2]}"#, #"{"docs":[0.]}"#,
    ])
  func textThatIsNoJSONHasAPartThatIsNone(text: String) {
    let bytes = Array(text.utf8)
    #expect(throws: JSONError.self) { try ParsedJSON(bytes, limits: .small) }
    let scanner = Self.scan(bytes, by: 2)
    let parts = [scanner.rest] + scanner.elements.map { Array(bytes[$0]) }
    #expect(parts.contains { (try? ParsedJSON($0, limits: .small)) == nil })
  }

  @Test func randomDamageIsNeverTakenForJSON() {
    var generator = SeededGenerator(seed: 7)
    let text = #"{"a":1,"docs":[{"b":[1,"x\""]},2,"y"],"c":{}}"#
    let spare = Array(#"{}[],:"\ 01a"#.utf8)
    for _ in 0..<repetitions(5_000, nightly: 20_000) {
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = bytes.indices.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes.remove(at: index)
        case 1: bytes.insert(spare.randomElement(using: &generator) ?? 0, at: index)
        default: bytes[index] = spare.randomElement(using: &generator) ?? 0
        }
      }
      let scanner = Self.scan(bytes, by: 5)
      let parts = [scanner.rest] + scanner.elements.map { Array(bytes[$0]) }
      let areSound = parts.allSatisfy { (try? ParsedJSON($0, limits: .small)) != nil }
      let isSound = (try? ParsedJSON(bytes, limits: .small)) != nil
      #expect(areSound == isSound, "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test func restHasALimitAndElementsDoNotCount() {
    let text = Array(#"{"docs":["\#(String(repeating: "x", count: 1_000))"],"a":"bb"}"#.utf8)
    #expect(!Self.scan(text, by: 10, restLimit: 21).isRestTooLong)
    #expect(Self.scan(text, by: 10, restLimit: 20).isRestTooLong)
  }

  private static func scan(
    _ bytes: [UInt8], by length: Int, restLimit: Int = 1_000
  ) -> JSONScanner {
    var scanner = JSONScanner(member: "docs", restLimit: restLimit)
    for start in stride(from: 0, to: bytes.count, by: length) {
      scanner.take(Array(bytes[start..<min(start + length, bytes.count)]))
    }
    return scanner
  }
}
