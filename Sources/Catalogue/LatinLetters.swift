import Text

/// Cyrillic and Greek words in Latin letters, so that people without these keyboards find them: `berezka` for `Берёзка`.
///
/// The words are folded (`FoldedText`), so they have no marks: й is и, ї is і. Devices get the table with the names of places
/// (`PlaceNames.lines`).
///
/// Source: BGN/PCGN romanisation of Russian and Ukrainian; ISO 843, type 2, for Greek.
enum LatinLetters {
  /// Each letter, followed by what stands for it.
  static let pairs = """
    аa бb вv гg дd еe жzh зz иi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ ыy ь эe юyu яya іi єye ґg ђdj јj \
    љlj њnj ћc џdz αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs τt υy φf χch ψps ωo
    """

  private static let table = FoldedText.table(of: pairs)

  /// The word in Latin letters; nil if it has none to replace, or others.
  static func word(_ word: String) -> String? {
    let letters = word.unicodeScalars
    guard let first = letters.first, table[first] != nil,
      letters.allSatisfy({ $0.isASCII || table[$0] != nil })
    else { return nil }
    return letters.map { table[$0] ?? String($0) }.joined().replacing("oy", with: "ou")
  }
}
