import Testing

@testable import Documents

/// Each limit, at its value and one more.
@Suite struct JSONLimitTests {
  @Test func textOfExactlyTheLimitIsAcceptedAndOneByteMoreIsNot() {
    let limit = JSONLimits.document.maximumBytes
    let text = [UInt8](repeating: 0x20, count: limit - 2) + [0x5B, 0x5D]
    #expect(JSONReading.fault(text) == nil)
    #expect(JSONReading.fault(text + [0x20]) == JSONError(code: .tooLarge, offset: 1_048_576))
  }

  @Test func standardSizesAreThose() {
    #expect(JSONLimits.document.maximumBytes == 1_048_576)
    #expect(JSONLimits.request.maximumBytes == 16_777_216)
    #expect(JSONLimits.small.maximumBytes == 65_536)
  }

  @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
  func sixtyFourLevelsAreAcceptedAndOneMoreIsNot(_ open: String, _ close: String) {
    func nested(_ depth: Int) -> String {
      String(repeating: open, count: depth) + (open == "[" ? "" : "0")
        + String(repeating: close, count: depth)
    }
    #expect(JSONReading.fault(nested(64)) == nil)
    #expect(
      JSONReading.fault(nested(65)) == JSONError(code: .tooDeep, offset: 64 * open.utf8.count))
  }

  @Test func depthCountsOpenBracketsAndNotAll() {
    let text = "[" + Array(repeating: "[[]]", count: 1000).joined(separator: ",") + "]"
    var limits = JSONLimits.document
    limits.maximumDepth = 3
    #expect(JSONReading.fault(text, limits: limits) == nil)
    limits.maximumDepth = 2
    #expect(JSONReading.fault(text, limits: limits) == JSONError(code: .tooDeep, offset: 2))
  }

  @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
  func hundredThousandBracketsAreRefusedWhateverTheLimit(_ open: String) {
    let text = String(repeating: open, count: 100_000)
    var limits = JSONLimits.document
    #expect(JSONReading.fault(text, limits: limits)?.code == .tooDeep)
    limits.maximumDepth = .max
    #expect(JSONReading.fault(text, limits: limits)?.code == .tooDeep)
  }

  @Test func millionElementsAreRead() throws {
    let text = "[" + String(repeating: "0,", count: 999_999) + "0]"
    let root = try JSONReading.root(text, limits: .request)
    #expect(root.count == 1_000_000)
    #expect(root[999_999]?.int == 0)
    #expect(root[1_000_000] == nil)
    #expect(root.minified == Array(text.utf8))
  }

  @Test func twoMillionValuesAreReadAndOneMoreIsNot() throws {
    let text = "[" + String(repeating: "0,", count: 1_999_998) + "0]"
    #expect(try JSONReading.root(text, limits: .request).count == 1_999_999)
    let more = "[0," + text.dropFirst()
    #expect(
      JSONReading.fault(more, limits: .request)
        == JSONError(code: .tooManyValues, offset: more.utf8.count - 2))
  }

  @Test func namesAreNoValuesAndContainersAre() {
    var limits = JSONLimits.document
    limits.maximumValues = 3
    #expect(JSONReading.fault(#"{"a":[],"b":0}"#, limits: limits) == nil)
    #expect(JSONReading.fault("[[],[],0]", limits: limits)?.code == .tooManyValues)
  }

  @Test(arguments: [
    "[1,1,1]", "[[[[]]]]", #"{"a":{},"b":[{}]}"#, #"[{"a":"x,y:[z]"}]"#, "0", "[]", "[[],[]]",
    "[" + Array(repeating: "[[[[1]]]]", count: 9_000).joined(separator: ",") + "]",
    "[\"" + String(repeating: "x", count: 70_000) + "\"]",
  ])
  func whatIsKeptOfATextTakesAtMostTwiceItsBytes(text: String) throws {
    let bytes = Array(text.utf8)
    var parser = JSONParser(for: bytes.span, limits: .document)
    let isRead = try parser.read(bytes.span, bytes: .max)
    #expect(isRead)
    // Each extent has four bytes.
    #expect(parser.extents.count * 4 <= 2 * bytes.count)
  }

  @Test(arguments: [1, 2, 3, 7, 64])
  func textReadInPartsIsTheSame(bytes count: Int) {
    let texts = [
      #" {"a" : [1, -2.5e3,"x\u00e9" , {"b":{}}],"long":"\#(String(repeating: "y", count: 300))"} "#,
      #"{"a":1,"a":2}"#, #"[[[{"x":[0,{"k":1,"k":2}]}]]]"#, "[1,]", #"["a"#, "  ", "[]]", "12",
      "{\"a\":[" + Array(repeating: "[1]", count: 20_000).joined(separator: " , ") + "]}",
    ]
    for text in texts {
      var reader = JSONReader(Array(text.utf8), limits: .document)
      var (parsed, fault, parts): (ParsedJSON?, JSONError?, Int) = (nil, nil, 0)
      while parsed == nil, fault == nil {
        parts += 1
        do { parsed = try reader.next(bytes: count) } catch { fault = error }
      }
      #expect(fault == JSONReading.fault(text))
      let whole = try? JSONReading.root(text)
      #expect(parsed?.root.canonical == whole?.canonical)
      #expect(parts >= text.utf8.count / (count + 400))
    }
  }

  @Test func tenThousandMembersAreAcceptedAndOneMoreIsNot() throws {
    let members = (0...10_000).reversed().map { "\"k\($0)\":0" }
    let most = "{" + members.dropFirst().joined(separator: ",") + "}"
    #expect(try JSONReading.root(most).count == 10_000)
    #expect(try JSONReading.root(most)["k0"]?.int == 0)
    let tooMany = "{" + members.joined(separator: ",") + "}"
    #expect(JSONReading.fault(tooMany)?.code == .tooManyMembers)
    #expect(JSONReading.fault(tooMany)?.offset == tooMany.utf8.count - "\"k0\":0}".utf8.count)
  }

  @Test func stringLimitCountsResolvedBytes() {
    var limits = JSONLimits.document
    limits.maximumStringBytes = 12
    for text in [
      "abcdefghijkl", "\\u0061bcdefghijk\\n", "\u{20ac}\u{20ac}\u{20ac}\\u20ac",
      "\\ud83d\\ude00\u{1f600}\u{e9}\\u00e9",
    ] {
      #expect(JSONReading.fault("[\"\(text)\"]", limits: limits) == nil)
      #expect(JSONReading.fault("{\"\(text)\":1}", limits: limits) == nil)
      let error = JSONError(code: .stringTooLong, offset: 1)
      #expect(JSONReading.fault("[\"\(text)x\"]", limits: limits) == error)
      #expect(JSONReading.fault("{\"\(text)x\":1}", limits: limits) == error)
    }
  }

  @Test func stringOfHalfAMebibyteIsAcceptedAndOneByteMoreIsNot() {
    let text = String(repeating: "s", count: 512 * 1024)
    #expect(JSONReading.fault("\"\(text)\"") == nil)
    #expect(JSONReading.fault("\"\(text)s\"") == JSONError(code: .stringTooLong, offset: 0))
  }

  @Test func everyErrorHasItsOwnSentenceWithTheOffset() {
    let codes: [JSONError.Code] = [
      .invalidJSON, .invalidUTF8, .duplicateKey, .tooDeep, .tooLarge, .tooManyMembers,
      .stringTooLong, .numberOutOfRange,
    ]
    #expect(JSONReading.fault("")?.reason == "The text is empty, or it is not JSON.")
    let reasons = codes.map { JSONError(code: $0, offset: 4711).reason }
    #expect(Set(reasons).count == codes.count)
    #expect(reasons.allSatisfy { $0.contains("4711") })
    let error = JSONError(code: .duplicateKey, offset: 3, pointer: "/a")
    #expect(error.debugDescription == "JSONError(duplicate_key at byte 3, /a)")
  }
}
