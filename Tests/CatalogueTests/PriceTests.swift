import Testing

@testable import Catalogue

@Suite struct PriceTests {
  @Test(
    arguments: [
      ("£1,250.50 a night", 1250.5), ("€ 247,47", 247.47), ("1.250 kr.", 1250),
      ("CHF 1'250.50", 1250.5), ("CHF 1’250", 1250), ("1 250 €", 1250), ("1\u{A0}250,90 €", 1250.9),
      ("1\u{202F}250 €", 1250), ("95", 95), ("950000", 950_000), ("from 80.5", 80.5),
      ("1.234.567,89", 1_234_567.89), ("12,34,567.00", 1_234_567), ("1.234,-", 1234),
      ("0.250", 0.25), ("1250.500", 1250.5), ("99,9 €", 99.9), ("100-200", 100), ("100, 200", 100),
      ("٢٥٠ ر.س", 250), ("¥12,000", 12000), ("2 rooms 250", 2), ("none", nil), ("", nil),
    ] as [(String, Double?)])
  func thePriceIsTheFirstNumber(_ text: String, _ number: Double?) {
    #expect(Price.number(in: text) == number)
  }

  @Test(arguments: [
    ("no garden", true), ("no jardim", false), ("sem jardim", true), ("no jardín", true),
  ])
  func portugueseInTheIsNoRefusal(text: String, isRefusal: Bool) throws {
    #expect((AmenityNames.refused(at: 0, of: text.split(separator: " ")) != nil) == isRefusal)
    let pattern = try Regex(String(AmenityNames.refusalPattern.dropFirst("(?<!\\S)".count)))
    #expect(text.contains(pattern) == isRefusal)
  }
}
