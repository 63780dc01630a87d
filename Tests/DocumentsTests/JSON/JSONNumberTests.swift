import Documents
import Testing

/// The number classes of JSONTestSuite, and the exact storage of numbers.
@Suite struct JSONNumberTests {
  @Test(
    .bug(id: "J04"),
    arguments: [
      "123e65", "0e+1", "0e1", "4", "20e1", "-0", "-123", "-1", "1E22", "1E-2", "1E+2", "123e45",
      "123.456e78", "1e-2", "1e+2", "123", "123.456789", "0", "-0.0", "0.0", "0.5", "1.0", "1e2",
      "12345678901234567890",
      "-0.000000000000000000000000000000000000000000000000000000000000000001",
      "-0.000000000000000000000000000000000000000000000000000000000000000000000000000001",
      "0.10000000000000000000000000000000000000000000000000", "-9223372036854775808",
      "-123123123123123123123123123123", "100000000000000000000",
      "-237462374673276894279832749832423",
      "0.00", "0e-1", "10e-1", "1.5e0", "9e307", "1e-307",
    ])
  func wellFormedNumberIsKeptAsWritten(_ text: String) throws {
    let root = try JSONReading.root("[\(text)]")
    #expect(root[0]?.number?.text == text)
    #expect(root[0]?.number?.double != nil)
    #expect(root.canonical == Array("[\(text)]".utf8))
    #expect(JSONNumber(text: text)?.text == text)
  }

  @Test(
    .bug(id: "J03"),
    arguments: [
      JSONRefusal("-01", 2), JSONRefusal("-1.0.", 4), JSONRefusal("-2.", 3), JSONRefusal("-NaN", 1),
      JSONRefusal(".-1", 0), JSONRefusal(".2e-3", 0), JSONRefusal("0.1.2", 3),
      JSONRefusal("0.3e+", 5), JSONRefusal("0.3e", 4), JSONRefusal("0.e1", 2),
      JSONRefusal("0e", 2), JSONRefusal("0e+", 3), JSONRefusal("0E", 2), JSONRefusal("0E+", 3),
      JSONRefusal("1.0e-", 5), JSONRefusal("1.0e", 4), JSONRefusal("1.0e+", 5),
      JSONRefusal("1 000.0", 2), JSONRefusal("1eE2", 2), JSONRefusal("+1", 0),
      JSONRefusal("++1", 0),
      JSONRefusal("2.e+3", 2), JSONRefusal("2.e-3", 2), JSONRefusal("2.e3", 2),
      JSONRefusal("9.e+", 2), JSONRefusal("1+2", 1), JSONRefusal("0x1", 1), JSONRefusal("0x42", 1),
      JSONRefusal("Inf", 0), JSONRefusal("Infinity", 0), JSONRefusal("+Inf", 0),
      JSONRefusal("-Infinity", 1), JSONRefusal("-foo", 1), JSONRefusal("- 1", 1),
      JSONRefusal("-012", 2), JSONRefusal("-.123", 1), JSONRefusal("-1x", 2), JSONRefusal("-", 1),
      JSONRefusal("1ea", 2), JSONRefusal("1e1.5", 3), JSONRefusal("1.", 2), JSONRefusal(".5", 0),
      JSONRefusal(".123", 0), JSONRefusal("1.2a-3", 3), JSONRefusal("1.8011670033376514H-308", 18),
      JSONRefusal("012", 1), JSONRefusal("01", 1), JSONRefusal("00", 1), JSONRefusal("-00.0", 2),
      JSONRefusal("00e0", 1), JSONRefusal("00.0", 1), JSONRefusal("-00e0", 2),
      JSONRefusal("NaN", 0), JSONRefusal("0b1", 1), JSONRefusal("1_000", 1),
      JSONRefusal("1e0x", 3), JSONRefusal("--1", 1), JSONRefusal("1--", 1), JSONRefusal("1f", 1),
    ])
  func brokenNumberIsRefusedAtTheByte(_ refusal: JSONRefusal) {
    #expect(JSONReading.fault(refusal.bytes) == refusal.error)
    #expect(JSONNumber(text: String(decoding: refusal.bytes, as: UTF8.self)) == nil)
  }

  @Test(
    .bug(id: "J05"),
    arguments: [
      "1e400", "-1e400", "123.456e-789", "0.4e00669999999999999999969999999006", "-1e+9999",
      "1.5e+9999", "-123123e100000", "123123e100000", "123e-10000000", "1e309", "10e308",
      "0e309", "100e307", "1.8e308", "-1.7976931348623159e308", "2e-324", "-0.1e-323", "1e-325",
      "1e99999999999999999999999999999999999999",
      "0.\(String(repeating: "0", count: 400))1e401", "1\(String(repeating: "0", count: 400))e-400",
    ])
  func numberThatNoDoubleHoldsIsRefused(_ text: String) {
    #expect(JSONReading.fault("[\(text)]") == JSONError(code: .numberOutOfRange, offset: 1))
    #expect(JSONNumber(text: text) == nil)
  }

  @Test(
    .bug(id: "J05"),
    arguments: [
      "1e308", "-1e308", "1e-308", "0.1e309", "10e307", "0e308", "100e-310", "0e-324", "0.0e-323",
      "1.7976931348623157e308", "2.2250738585072014e-308", "1e-309", "-4.9406564584124654e-324",
      "5e-324", "3e-324", "0.5e-323",
    ])
  func numberThatADoubleHoldsIsAccepted(_ text: String) {
    #expect(JSONReading.fault(text) == nil)
  }

  /// Such a number was accepted once, and its document stays readable.
  @Test func storedNumberIsReadEvenIfNoDoubleHoldsIt() throws {
    #expect(try ParsedJSON(Array("[9e308]".utf8), limits: .stored).root[0]?.number?.text == "9e308")
  }

  @Test(.bug(id: "J05")) func sixtyFourDigitsAreAcceptedAndOneMoreIsNot() {
    let digits = String(repeating: "7", count: 64)
    for text in [digits, "-" + digits, "0.000" + digits, "7." + digits.dropFirst()] {
      #expect(JSONReading.fault(text) == nil)
      #expect(JSONReading.fault(text + "7") == JSONError(code: .numberOutOfRange, offset: 0))
    }
    let zeros = String(repeating: "0", count: 63)
    #expect(JSONReading.fault("0." + zeros) == nil)
    #expect(JSONReading.fault("0.0" + zeros)?.code == .numberOutOfRange)
    #expect(JSONReading.fault("1e0" + zeros) == nil)
    #expect(JSONReading.fault("1e00" + zeros)?.code == .numberOutOfRange)
    #expect(JSONReading.fault(String(repeating: "1", count: 1000))?.code == .numberOutOfRange)
  }

  @Test func integerIsOnlyWhatIsWrittenAsOne() throws {
    let root = try JSONReading.root("[9223372036854775807,9223372036854775808,1.0,1e2,-7,\"5\"]")
    #expect(root.elements.map(\.int) == [.max, nil, nil, nil, -7, nil])
    #expect(root.elements.map(\.double) == [0x1p63, 0x1p63, 1, 100, -7, nil])
  }

  @Test func spellingsOfOneValueAreDifferentNumbers() {
    #expect(JSONNumber(text: "1.0") != JSONNumber(1))
    #expect(JSONNumber(text: "-12") == JSONNumber(-12))
    #expect(JSONNumber(text: "-0") != JSONNumber(0))
    #expect(JSONNumber(text: "") == nil)
    #expect(JSONNumber(text: " 1") == nil)
    #expect(JSONNumber(text: "1 ") == nil)
  }
}
