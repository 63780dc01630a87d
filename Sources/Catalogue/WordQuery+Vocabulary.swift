/// What the words of the hotels say of a query's words.
extension WordQuery {
  /// Adds to each word the forms that are no mistakes: it is written apart in a hotel, or as one word with its
  /// neighbours, or hotels have its English name.
  func joinedAndApart(by vocabulary: Vocabulary) throws -> WordQuery {
    var query = self
    for text in texts.indices {
      if let (word, phrase) = texts[text].ending,
        try vocabulary.count(Self.named([phrase]), atMost: 1) > 0
      {
        query.texts[text].words.append(word)
        // "Rowing Club" has the phrase without it.
        query.texts[text].phrases.removeAll { !$0.hasSuffix(phrase) }
      }
      for index in query.texts[text].words.indices {
        try query.texts[text].complete(index, by: vocabulary)
      }
      let words = query.texts[text].words
      for (index, word) in words.enumerated().prefix(Vocabulary.mostWords) {
        for pair in try word.single.map(vocabulary.pairs) ?? [] {
          query.texts[text].words[index].forms.append(Form(text: pair, isPrefix: false))
        }
        for end in index + 1..<max(index + 1, min(index + IndexedText.mostJoined, words.count)) {
          let some = words[index...end]
          guard some.allSatisfy({ !$0.key.isEmpty }) else { break }
          let isPrefix = words[end].forms[0].isPrefix
          for joined in Self.joined(some.map(\.key))
          where try vocabulary.has(joined, isPrefix: isPrefix) {
            for member in index...end {
              query.texts[text].words[member].forms.append(Form(text: joined, isPrefix: isPrefix))
            }
          }
        }
      }
    }
    return query
  }

  /// The query with corrected words beside its own; nil when there is nothing to correct.
  func corrected(by vocabulary: Vocabulary) throws -> WordQuery? {
    var query = self
    var (looked, isCorrected) = (0, false)
    for text in texts.indices {
      for (index, word) in texts[text].words.enumerated() {
        // A name of a place in another language is no mistake: "Siviglia" does not mean Sicilia.
        guard let single = word.single, looked < Vocabulary.mostWords,
          PlaceNames.all.meant(by: single).isEmpty
        else { continue }
        looked += 1
        let spellings = [single] + [LatinLetters.word(single)].compactMap(\.self)
        // "Guesthouses" are "guest house", too.
        let others =
          try spellings.flatMap(vocabulary.alternatives)
          + Vocabulary.numbers(of: single).flatMap(vocabulary.pairs)
        for other in others {
          query.texts[text].words[index].forms.append(Form(text: other, isPrefix: false))
          isCorrected = true
        }
      }
    }
    return isCorrected ? query : nil
  }
}

extension WordQuery.Text {
  /// Decides by the hotels' words what a word may mean besides: its English name if more hotels have that, its names in all
  /// languages if none has either, no beginning if it is the name of a place of theirs, or a letter that is a word of one's
  /// name, and what is mistyped with an article: "los angles".
  mutating func complete(_ index: Int, by vocabulary: Vocabulary) throws {
    var word = words[index]
    for offer in word.offers {
      let own = try vocabulary.count(Self.found([offer.own]), atMost: Vocabulary.mostCounted)
      if try !offer.names.isEmpty
        && vocabulary.count(Self.found(offer.names), atMost: own + 1) > own
      {
        word.forms += offer.names
      } else if own == 0 {
        word.forms += offer.others
      }
    }
    defer { words[index] = word }
    guard let single = word.single else { return }
    func isOfHotels(_ name: String) throws -> Bool {
      let form = WordQuery.Form(text: word.before + " " + name, isPrefix: false)
      let name = WordQuery.Word(forms: [form], single: nil)
      return try vocabulary.count(place(of: name), atMost: 1) > 0
    }
    let names =
      try word.before.isEmpty || vocabulary.isRight(single) || isOfHotels(single)
      ? [] : vocabulary.alternatives(to: single).filter(isOfHotels)
    let isName =
      try word.whole != nil
      && (PlaceNames.all.isPlace(single) && vocabulary.count(place(of: word), atMost: 1) > 0
        || single.utf8.count == 1
          && vocabulary.count("{name} : \"\(single)\"", atMost: 1) > 0)
    guard isName || !names.isEmpty else { return }
    word.whole = nil
    word.forms = (word.forms.map(\.text) + names).map { WordQuery.Form(text: $0, isPrefix: false) }
  }

  /// The expression for hotels that have any of some forms, or are in a place of that name.
  private static func found(_ forms: [WordQuery.Form]) -> String {
    forms.map(WordQuery.quoted).joined(separator: " OR ")
  }
}
