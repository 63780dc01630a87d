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
      ("٢٥٠ ر.س", 250), ("¥12,000", 12000), ("2 rooms 250", 250), ("none", nil), ("", nil),
      ("4 nights from £148", 148), ("£50 room only", 50), ("sleeps 10 people", nil),
      ("1万円", 10_000), ("35 000 Ft", 35_000),
      ("120 night", 120), ("EUR 80 night", 80), ("Rs. 90 person", 90), ("80 m, 2 beds", nil),
    ] as [(String, Double?)])
  func thePriceIsTheFirstNumber(_ text: String, _ number: Double?) {
    #expect(Price.number(in: text) == number)
  }

  @Test(arguments: [
    ("no garden", true), ("no jardim", false), ("sem jardim", true), ("no jardín", true),
  ])
  func portugueseInTheIsNoRefusal(text: String, isRefusal: Bool) {
    #expect(ExcludedWords(text).isEmpty != isRefusal)
  }

  @Test(
    arguments: [
      ("bis 22 Uhr", []), ("until 10 pm, max 12 pax", []), ("kids under 12", []), ("24/7", []),
      ("adults over 16", []), ("rating over 8.5", []),
      ("bis 12.05.2026", []), ("under €1 250", [0, 1250]), ("US$50-100/night", [50, 100]),
      ("from 80 €", [80, .greatestFiniteMagnitude]), ("3 nights for under 1万円", [0, 10_000]),
      ("over 50 under 100", [50, 100]), ("un budget de 100 euros", [0, 100]),
      ("prezzo di 100", [0, 100]), ("camera da 100 euro", [0, 100]),
      ("goa under Rs.2000", [0, 2000]), ("IDR500000", [0, 500_000]), ("bis 100,- €", [0, 100]),
    ] as [(String, [Double])])
  func aNumberIsAPriceOnlyIfItCountsMoney(text: String, limits: [Double]) {
    let wish = PriceWish(SaidWords.said(in: text).compactMap(\.wish))
    #expect(wish.map { [$0.least, $0.most ?? -1] } ?? [] == limits)
  }
}
