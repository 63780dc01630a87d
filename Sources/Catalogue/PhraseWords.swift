/// Splits a text into words as the travel-sample's index does: the words of Unicode Standard Annex 29 that have a
/// letter or a digit, in lower case, with accents. English stop words are removed, but their positions are kept.
/// Source: the analyzer `standard` of Bleve, on which the Couchbase Search Service is built.
///
/// So "d'Alger" is one word, "Wi-Fi" two, and "bed & breakfast" has the same words as "bed breakfast". A stop word
/// leaves a gap: "bed and breakfast" finds "bed or breakfast", and "the" finds nothing.
enum PhraseWords {
  /// The text in place of a stop word. It equals no word.
  static let gap: [UInt8] = [UInt8(ascii: "_")]

  /// The words and gaps of `text`, each followed by a space: the text that is indexed.
  static func indexed(_ text: String) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(text.utf8.count)
    forEach(in: text) { word in
      output += StopWords.contains(word) ? gap : word
      output.append(0x20)
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// The words and gaps of `text` from its first word to its last; nil if it has stop words only.
  static func phrase(_ text: String) -> String? {
    var words: [[UInt8]] = []
    forEach(in: text) { words.append(StopWords.contains($0) ? gap : $0) }
    let trimmed = words.drop { $0 == gap }
    guard let last = trimmed.lastIndex(where: { $0 != gap }) else { return nil }
    return String(decoding: Array(trimmed[...last].joined(separator: [0x20])), as: UTF8.self)
  }

  /// Calls `body` with each word in lower case, in order.
  private static func forEach(in text: String, _ body: ([UInt8]) -> Void) {
    var word: [UInt8] = []
    var last = WordScalar.other
    /// A mark that belongs to the word only if the next scalar is a `bridged` one.
    var bridge: (bytes: [UInt8], to: WordScalar)?

    func end() {
      // A word of underscores only is not a word.
      if word.contains(where: { $0 != UInt8(ascii: "_") }) { body(word) }
      (word, last, bridge) = ([], .other, nil)
    }

    for scalar in text.unicodeScalars {
      let kind = WordScalar(scalar)
      if kind == .extend {
        if let pending = bridge {
          bridge = (pending.bytes + Array(String(scalar).utf8), pending.to)
        } else if last != .other {
          append(scalar, to: &word)
        }
        continue
      }
      if let pending = bridge {
        if kind == pending.to { word += pending.bytes } else { end() }
        bridge = nil
      }
      switch kind {
      case .letter, .digit, .connector:
        if last == .single { end() }
        append(scalar, to: &word)
        last = kind
      case .single:
        end()
        append(scalar, to: &word)
        last = kind
      case .middleOfWord, .middleOfNumber, .middleOfBoth:
        if let to = kind.bridges(last) {
          bridge = (Array(String(scalar).utf8), to)
        } else {
          end()
        }
      case .extend, .other: end()
      }
    }
    end()
  }

  private static func append(_ scalar: Unicode.Scalar, to word: inout [UInt8]) {
    guard !scalar.isASCII else {
      let byte = UInt8(truncatingIfNeeded: scalar.value)
      word.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
      return
    }
    word += scalar.properties.lowercaseMapping.utf8
  }
}

/// The English words that the travel-sample's index removes: the Snowball project's list, which Bleve's filter
/// `stop_en` uses. <https://snowballstem.org/algorithms/english/stop.txt>
enum StopWords {
  private static let words: Set<[UInt8]> = Set(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they \
    them their theirs themselves what which who whom this that these those am is are was were be been being have has had having do does \
    did doing would should could ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd \
    i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't \
    shouldn't can't cannot couldn't mustn't let's that's who's what's here's there's when's where's why's how's a an the and but if or \
    because as until while of at by for with about against between into through during before after above below to from up down in out on \
    off over under again further then once here there when where why how all any both each few more most other some such no nor not only \
    own same so than too very
    """.utf8.split(separator: 0x20).map(Array.init))

  private static let longest = words.map(\.count).max() ?? 0

  /// Whether a word, as UTF-8 bytes in lower case, is a stop word.
  static func contains(_ word: [UInt8]) -> Bool { word.count <= longest && words.contains(word) }
}
