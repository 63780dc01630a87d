/// A text as searches compare it: split into terms, and folded, so that different spellings of a word are equal.
///
/// Folding, in this order: compatibility decomposition (NFKD), lower case, the letters of ``letters``, decimal digits as
/// ASCII digits, no marks, no format characters (soft hyphens, zero-width characters) and no tatweel, composition (NFC).
/// The voicing marks of kana stay, because ビル and ヒル are different words. `Page/Files/offline/words.js` has the same
/// rules for the device; `Tests/Fixtures/searches.json` tests both.
///
/// Source: Unicode Standard Annex 15; Unicode Technical Report 30, "Character Foldings".
package struct FoldedText: Sendable, Equatable {
  /// A piece of a term.
  package enum Part: Sendable, Equatable {
    /// Letters and digits in a row, or one pictograph.
    case word(String)
    /// Letters in a row of a script that puts no spaces between words.
    case run(String)
  }

  /// What stands between two spaces.
  package struct Term: Sendable, Equatable {
    package fileprivate(set) var parts: [Part] = []
    /// Whether punctuation follows the last part, as in `C++`.
    package fileprivate(set) var isClosed = false
  }

  /// The terms that have a part, in order.
  package private(set) var terms: [Term] = []

  /// Folds a text.
  /// - Parameter spelling: how letters with an umlaut or a ring are folded.
  package init(_ text: String, _ spelling: Spelling = .plain) {
    var term = Term()
    // `kind` is that of the characters in `piece`.
    var (kind, piece) = (Kind.separator, String.UnicodeScalarView())
    func endPart() {
      if kind == .run {
        term.parts.append(.run(String(piece)))
      } else if kind != .separator {
        term.parts.append(.word(String(piece)))
      }
      (kind, piece) = (.separator, String.UnicodeScalarView())
    }
    for scalar in Self.folded(text, spelling).unicodeScalars {
      let next = Kind(scalar)
      if next != kind || next == .pictograph { endPart() }
      if next == .space {
        if !term.parts.isEmpty { terms.append(term) }
        term = Term()
      } else if next == .separator {
        term.isClosed = true
      } else {
        term.isClosed = false
        kind = next
        piece.append(scalar)
      }
    }
    endPart()
    if !term.parts.isEmpty { terms.append(term) }
  }

  /// How letters with an umlaut or a ring are folded.
  package enum Spelling: Sendable {
    /// To the letter alone: `ü` is `u`.
    case plain
    /// As Germans and Scandinavians write them without these letters: `ü` is `ue`, `å` is `aa`, `ø` is `oe`.
    case expanded
  }

  /// Letters that do not decompose, each followed by what it is folded to; signs of ownership, which become nothing; the
  /// letters of flags: 🇫🇷 is `fr`.
  package static let letterPairs = """
    © ® 🇦a 🇧b 🇨c 🇩d 🇪e 🇫f 🇬g 🇭h 🇮i 🇯j 🇰k 🇱l 🇲m 🇳n 🇴o 🇵p 🇶q 🇷r 🇸s 🇹t 🇺u 🇻v 🇼w 🇽x 🇾y 🇿z \
    æae œoe øo łl đd ðd þth ßss ıi ħh ŧt ŋn ĸq əe ɛe ɔo ƒf ƙk ƴy ɓb ɗd ɖd ƀb ƶz ƚl ǥg ɨi ɫl ςσ ٱا ىي یي کك ةه ہه ھه
    """

  /// The same by letter.
  static let letters = table(of: letterPairs)

  /// What stands for each letter: pairs have a letter, and after it what stands for it.
  package static func table(of pairs: String) -> [Unicode.Scalar: String] {
    pairs.split(whereSeparator: \.isWhitespace).reduce(into: [:]) { letters, pair in
      guard let letter = pair.unicodeScalars.first else { return }
      letters[letter] = String(pair.unicodeScalars.dropFirst())
    }
  }

  private static func folded(_ text: String, _ spelling: Spelling) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
    var output = String.UnicodeScalarView()
    // ™ decomposes to letters.
    let own = String(text.unicodeScalars.filter { $0 != "™" })
    for scalar in own.normalized(.compatibleDecomposed).unicodeScalars {
      for scalar in scalar.properties.lowercaseMapping.unicodeScalars {
        append(scalar, to: &output, spelling)
      }
    }
    return String(output).normalized(.canonical)
  }

  private static func append(
    _ scalar: Unicode.Scalar, to output: inout String.UnicodeScalarView, _ spelling: Spelling
  ) {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark:
      if scalar == "\u{3099}" || scalar == "\u{309A}" {
        output.append(scalar)
      } else if output.last == " " {
        // A spacing accent such as ´ decomposes to a space and a mark. People type it for an apostrophe.
        output.removeLast()
        output.append("'")
      } else if spelling == .expanded, let letter = output.last {
        if scalar == "\u{308}", "aou".unicodeScalars.contains(letter) { output.append("e") }
        if scalar == "\u{30A}", letter == "a" { output.append("a") }
      }
    case .format: break
    case .decimalNumber: output += String(Int(scalar.properties.numericValue ?? 0)).unicodeScalars
    default:
      if scalar == "\u{640}" { break }
      if spelling == .expanded, scalar == "ø" {
        output += "oe".unicodeScalars
      } else if let letters = letters[scalar] {
        output += letters.unicodeScalars
      } else {
        output.append(scalar)
      }
    }
  }

  private enum Kind {
    case word, run, pictograph, separator, space

    init(_ scalar: Unicode.Scalar) {
      if scalar.isASCII {
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: self = .word
        case 0...0x20, 0x7F: self = .space
        default: self = .separator
        }
        return
      }
      switch scalar.properties.generalCategory {
      case .modifierLetter where (0x2B0...0x2FF).contains(scalar.value):
        // Forms of the apostrophe, such as the one in Hawaiʻi.
        self = .separator
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
        .letterNumber, .otherNumber, .decimalNumber, .nonspacingMark, .privateUse:
        self = scalar.isWrittenWithoutSpaces ? .run : .word
      case .otherSymbol: self = scalar.properties.isEmoji ? .pictograph : .separator
      case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control: self = .space
      default: self = .separator
      }
    }
  }
}

extension FoldedText.Part {
  package var text: String {
    switch self {
    case .word(let text), .run(let text): text
    }
  }

  /// The words that an index has of it: of a run, each character with the next one, and the last alone. So every
  /// character begins a word, and a part of the run is found as a phrase.
  ///
  /// Source: Lucene, "CJKBigramFilter".
  package var words: [String] {
    guard case .run(let text) = self else { return [text] }
    let scalars = Array(text.unicodeScalars)
    return scalars.indices.map { index in
      var word = String.UnicodeScalarView([scalars[index]])
      if index + 1 < scalars.count { word.append(scalars[index + 1]) }
      return String(word)
    }
  }
}

extension Unicode.Scalar {
  /// Whether its script puts no spaces between words, or like Korean puts them between words with their endings: Thai,
  /// Lao, Burmese, Khmer, Chinese, Japanese, Korean.
  fileprivate var isWrittenWithoutSpaces: Bool {
    switch value {
    case 0xE01...0xEFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x3007, 0x3021...0x318E,
      0x31A0...0x9FFF, 0xA960...0xA97F, 0xAA60...0xAA7F, 0xAC00...0xD7FF, 0xF900...0xFAFF,
      0x1B000...0x1B16F, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}
