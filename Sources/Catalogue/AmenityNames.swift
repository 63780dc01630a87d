/// What hotels have, in other languages than English, and how a search says that it is not wanted: "Paris Frühstück",
/// "no pets", "sans petit déjeuner", 朝食なし.
enum AmenityNames {
  /// Each English word as hotels have it, followed by its names.
  static let all: [[String]] =
    NameTable.amenity.rows
    + (2...20).map { number in
      let ordinals = [2: "2nd", 3: "3rd"]
      return [ordinals[number] ?? "\(number)th", "\(number)e", "\(number)ème", "\(number)eme"]
    }

  /// What a search may say that it does not want, beside the first lines of ``all``.
  private static let others = ["pet", "kids", "internet", "bar", "spa", "motel", "chain"]
  private static let refusable = all.prefix(15).flatMap(\.self) + others
  private static let unspaced = refusable.filter { ($0.unicodeScalars.first?.value ?? 0) >= 0x2E80 }

  /// What stands before it.
  private static let before = SaidWords.list(
    """
    no,not,non,without,without any,with no,except,excluding,but not,ohne,kein,keine,keinen,nicht,außer,sans,pas de,sauf,sin,excepto,\
    senza,sem,zonder,geen,bez,без,кроме,بدون,ללא
    """)
  /// What "no" stands before in Portuguese, where it means "in the": "no jardim".
  private static let withinInPortuguese = ["jardim", "restaurante", "estacionamento"]
  /// What may follow it.
  private static let after = SaidWords.list(
    "allowed,included,erlaubt,inbegriffen,inklusive,admis,inclus,incluido,please")
  /// What stands before a place where the hotels must not be, and such places.
  private static let outside = SaidWords.list(
    """
    not,not in,outside,outside of,except,except in,excluding,but not,but not in,nicht in,außer,außerhalb von,ausser,sauf,hors de,\
    excepto,fuera de,salvo,tranne,кроме
    """)
  private static let places: [String] = {
    var names = ["UK", "USA", "Great Britain", "London", "Paris", "Berlin", "Manhattan"]
    for row in NameTable.city.rows + NameTable.foreign.rows { names += row.dropFirst() }
    for region in NamedRegion.all { names += region.names }
    names += SpelledQuery.places.values
    return names
  }()
  /// The same in scripts without spaces: at the beginning and at the end of a word.
  private static let (prefixes, suffixes) = ("不含|不带|没有|无|無|不要", "なし|無し|抜き|不可|없음|없는")

  /// A pattern of JavaScript and ICU for what a search does not want: a word with a hyphen before it, or what is in one of
  /// the groups. A hyphen means it before the first letter of a word.
  static let refusalPattern: String = {
    let either = SaidWords.either
    let names = either(unspaced)
    return "(?<!\\S)(?:-\\p{L}\\S*(?<![.,;!?])|(?!no\\s+" + either(withinInPortuguese) + ")"
      + "(?:" + either(before) + "\\s+(?:(?:an?|any|the|einen?)\\s+)?|pas d['’])("
      + either(refusable) + ")s?(?:\\s+" + either(after) + ")?|" + either(outside)
      + "\\s+(" + either(places) + ")|(?:" + prefixes + ")(" + names + ")|(" + names
      + ")(?:" + suffixes + "))[.,;!?]*(?!\\S)"
  }()
}
