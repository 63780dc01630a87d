import Documents
import Testing

@Suite struct TimestampTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (1, "1970-01-01T00:00:00.001Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_399_999, "2000-02-28T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (951_868_800_000, "2000-03-01T00:00:00.000Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (4_107_456_000_000, "2100-02-28T00:00:00.000Z"),
      (1_795_226_940_000, "2026-11-21T02:09:00.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
      (.max, "9999-12-31T23:59:59.999Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
      (-62_167_219_200_001, "0000-01-01T00:00:00.000Z"),
      (.min, "0000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func isWrittenAsRFC3339(_ milliseconds: Int64, _ wanted: String) {
    #expect(Timestamp(milliseconds: milliseconds).rfc3339 == wanted)
    #expect(Timestamp(milliseconds: milliseconds).rfc3339Seconds == String(wanted.prefix(19)) + "Z")
  }

  @Test(
    arguments: [
      (0, 0), (999, 0), (1_000, 1), (-1, -1), (-1_000, -1), (-1_001, -2),
      (.max, 9_223_372_036_854_775), (.min, -9_223_372_036_854_776),
    ] as [(Int64, Int64)])
  func secondsAreRoundedDown(_ milliseconds: Int64, _ seconds: Int64) {
    #expect(Timestamp(milliseconds: milliseconds).seconds == seconds)
  }

  @Test(arguments: [
    "0000-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z",
    "2000-02-29T12:34:56.789Z", "2026-11-21T02:09:00.001Z", "9999-12-31T23:59:59.999Z",
  ])
  func whatIsWrittenIsReadBack(_ text: String) throws {
    #expect(try #require(Timestamp(rfc3339: text)).rfc3339 == text)
  }

  @Test func farMomentsAreClippedAndNeverTrap() {
    #expect(Timestamp(seconds: .max).milliseconds == .max)
    #expect(Timestamp(seconds: .min).milliseconds == .min)
    #expect(Timestamp(milliseconds: .max).adding(seconds: 1).milliseconds == .max)
    #expect(Timestamp(milliseconds: .min).adding(seconds: -1).milliseconds == .min)
    #expect(Timestamp(seconds: 5).adding(seconds: -7) == Timestamp(seconds: -2))
    #expect(Timestamp(seconds: -2) < Timestamp(seconds: 5))
  }
}

@Suite struct HexTests {
  @Test func bytesAndDigitsAreInverse() {
    let bytes = Array(UInt8.min...UInt8.max)
    let text = Hex.string(bytes)
    #expect(text.utf8.count == 512)
    #expect(Hex.bytes(text.utf8) == bytes)
    #expect(Hex.string([]) == "")
    #expect(Hex.bytes("".utf8) == [])
  }

  @Test(arguments: ["0", "0A", "FF", "0g", "0 ", "é", "00\u{301}"])
  func onlyLowerCaseDigitsInPairsAreRead(_ text: String) {
    #expect(Hex.bytes(text.utf8) == nil)
  }

  @Test func wordsAreWrittenHighFirst() {
    #expect(Hex.string(0x0123_4567_89AB_CDEF, 1) == "0123456789abcdef0000000000000001")
  }
}
