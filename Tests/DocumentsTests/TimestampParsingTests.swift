import Documents
import TestSupport
import Testing

@Suite struct TimestampParsingTests {
  @Test func everyMomentThatIsWrittenIsReadBack() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<2_000 {
      let moment = Timestamp(
        milliseconds: .random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator))
      #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
    }
  }

  @Test(arguments: [
    ("2026-11-21T02:09:00Z", 1_795_226_940_000), ("2026-11-21t02:09:00.25z", 1_795_226_940_250),
    ("2026-11-21T03:09:00.0004+01:00", 1_795_226_940_000),
    ("2026-11-20T22:39:00-03:30", 1_795_226_940_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
  ])
  func formsOfTheStandardAreRead(_ text: String, _ milliseconds: Int64) {
    #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "", "2026-11-21", "2026-11-21T02:09:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
    "2026-11-21T24:00:00Z", "2026-11-21T02:09:00.Z", "2026-11-21T02:09:00+1:00",
    "2026-11-21T02:09:61Z", "2026-11-21T02:09:00.00éZ", "2026-00-01T00:00:00.000Z",
    "2026-11-21T02:09:00Zx", "+026-11-21T02:09:00Z", "2026-11-00T02:09:00Z",
  ])
  func otherTextsAreRefused(_ text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }
}
