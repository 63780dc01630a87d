import Testing

@testable import Text

@Suite struct FoldedTextTests {
  @Test(arguments: [
    ("Œuvre", "oeuvre"), ("ŒUVRE", "oeuvre"), ("Straße STRAẞE", "strasse strasse"), ("ﬁn", "fin"),
    ("ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"), ("İSTANBUL ısı", "istanbul isi"), ("Ё", "е"),
    ("آأإٱ", "اااا"), ("مـــسجد", "مسجد"), ("٣ ३ ３", "3 3 3"), ("𝐇𝟏", "h1"), ("ﾋﾞﾙ ビル", "ビル ビル"),
    ("한국", "한국"), ("a\u{200D}b\u{AD}c", "abc"), ("o\u{B4}c", "o c"), ("½", "1 2"),
  ])
  func aTextIsFolded(text: String, folded: String) {
    let parts = FoldedText(text).terms.flatMap(\.parts).map(\.text)
    #expect(parts.joined(separator: " ") == folded)
  }

  @Test func termsKnowTheirPartsAndWhetherTheyAreClosed() {
    let terms = FoldedText("Wi-Fi, C++ 東京Hotel").terms
    #expect(
      terms.map(\.parts) == [
        [.word("wi"), .word("fi")], [.word("c")], [.run("東京"), .word("hotel")],
      ])
    #expect(terms.map(\.isClosed) == [true, true, false])
    #expect(FoldedText(" … & \u{301}").terms.isEmpty)
  }

  @Test func aRunIsIndexedByPairs() {
    #expect(FoldedText.Part.run("ホテル").words == ["ホテ", "テル", "ル"])
    #expect(FoldedText.Part.run("館").words == ["館"])
  }

  @Test func lettersCanBeSpeltOut() {
    #expect(FoldedText("Øÿ Ångström Müller", .expanded) == FoldedText("oey aangstroem mueller"))
  }

  @Test func countriesHaveTheirNames() throws {
    let germany = try #require(RegionNames.all().first { $0.code == "DE" })
    for name in ["DE", "DEU", "Germany", "Deutschland"] { #expect(germany.names.contains(name)) }
    #expect(germany.foreignNames.contains("Allemagne"))
    let japan = try #require(RegionNames.all().first { $0.code == "JP" })
    #expect(japan.cities.contains { $0.names.contains("Tokyo") && $0.names.contains("東京") })
  }
}
