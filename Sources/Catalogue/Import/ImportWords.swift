import CEmbedded

/// The lists of `CEmbedded/import-words.txt`: names of columns and other words that files of hotels have. The file says what
/// each list is.
///
/// The lists of names of a hotel's members have the names of ``HotelAliases/Meaning``.
enum ImportWords: String, CaseIterable {
  case container, namespace, prefix, outerPrefix, notByEnds, joint, small, lodging, night
  case priceWord, currency, quality, number, mail, web, online, yes, no, amount, amenityStart
  case amenityEnd, amenityFlag, remark, total, columnType, missing, lodgingPart, otherThing
  case frenchStreet, englishStreet, numberFirst, inlineTag, lineTag, spaceTag, latinReference
  case opening, box, priceMember, listName, wrapper, part, person, typeOfHotel, otherKind, sight
  case lodgingType, accommodationType, textMember, kindOfHotels, titleColumn, opinion
  case otherThingAlone, otherThingInPlace, location

  /// The words in the order of the file.
  var list: [String] { Self.lists[rawValue] ?? [] }
  var set: Set<String> { Set(list) }
  /// The words as names are compared; see ``HotelAliases/letters(of:)``.
  var letters: Set<String> { Set(list.map { HotelAliases.letters(of: $0.utf8) }) }
  /// The words with spaces.
  var phrases: [String] { list.map { $0.replacing("_", with: " ") } }

  /// All lists by their names.
  static let lists: [String: [String]] = {
    let bytes = UnsafeBufferPointer(
      start: cembedded_words_bytes(), count: cembedded_words_count())
    var lists: [String: [String]] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
      guard let name = words.first?.dropLast() else { continue }
      lists[String(name), default: []] += words.dropFirst()
    }
    return lists
  }()
}
