/// Turns HTML, as exports of web sites have it in descriptions, into plain text.
enum HTMLText {
  /// The text without tags and with characters in the place of references. A text without HTML stays as it is.
  /// - Parameter lineEnd: what stands between the lines and paragraphs of HTML.
  static func plain(_ text: String, lineEnd: String = "\n") -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else {
      return text
    }
    var plain = decoded(text)
    // Some exports escape the tags of their HTML, too.
    if plain.hadReference, !plain.hadTag {
      let again = decoded(plain.text)
      if again.hadTag { plain = again }
    }
    guard plain.hadTag || plain.hadReference else { return text }
    return plain.hadTag ? lines(of: plain.text).joined(separator: lineEnd) : plain.text
  }

  private struct Decoded {
    var text = ""
    var hadTag = false
    var hadReference = false
  }

  private static func decoded(_ text: String) -> Decoded {
    var (result, bytes) = (Decoded(), [UInt8]())
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      if byte == UInt8(ascii: "<"), let tag = tag(rest) {
        result.hadTag = true
        if !inlineTags.contains(tag.name) {
          bytes.append(tags.contains(tag.name) ? lineMark : 0x20)
        }
        bytes += tag.content
        rest = rest.dropFirst(tag.length)
      } else if byte == UInt8(ascii: "&"), let reference = reference(rest) {
        result.hadReference = true
        bytes += Array(String(Character(reference.scalar)).utf8)
        rest = rest.dropFirst(reference.length)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    result.text = String(decoding: bytes, as: UTF8.self)
    return result
  }

  private struct Tag {
    let name: String
    let length: Int
    /// The text in the place of the tag: that of a CDATA section, otherwise none.
    var content: ArraySlice<UInt8> = []
  }

  /// The tag, comment or section at the start of `text`; nil for a `<` that starts none, as in `< 20 m²`.
  private static func tag(_ text: ArraySlice<UInt8>) -> Tag? {
    if text.starts(with: "<!--".utf8) {
      return Tag(name: "!--", length: end(of: "-->", in: text) ?? text.count)
    }
    if text.starts(with: "<![CDATA[".utf8) {
      guard let length = end(of: "]]>", in: text) else { return nil }
      return Tag(name: "b", length: length, content: text.dropFirst(9).prefix(length - 12))
    }
    let isEnd = text.dropFirst().first == UInt8(ascii: "/")
    let inner = text.dropFirst(isEnd ? 2 : 1)
    let name = HotelAliases.letters(of: inner.prefix { isLetterOrDigit($0) })
    guard
      tags.contains(name) || spaceTags.contains(name) || inlineTags.contains(name)
        || hiddenTags.contains(name)
    else { return nil }
    guard let length = end(of: ">", in: text) else { return nil }
    if hiddenTags.contains(name), !isEnd {
      let rest = text.dropFirst(length)
      return Tag(name: name, length: length + (end(of: "</\(name)>", in: rest) ?? 0))
    }
    return Tag(name: name, length: length)
  }

  /// How many bytes there are until the end of a mark, in ASCII's lower case.
  private static func end(of mark: String, in text: ArraySlice<UInt8>) -> Int? {
    let mark = Array(mark.utf8)
    var start = text.startIndex
    while let found = text[start...].firstIndex(where: { $0 == mark[0] }) {
      let part = text[found...].prefix(mark.count)
      if part.elementsEqual(mark, by: { ($0 == $1) || ($0 | 0x20 == $1 && isLetterOrDigit($1)) }) {
        return found + mark.count - text.startIndex
      }
      start = found + 1
    }
    return nil
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }

  /// The character reference at the start of `text`; nil for an `&` that starts none, as in `Bed & Breakfast`.
  private static func reference(
    _ text: ArraySlice<UInt8>
  ) -> (scalar: Unicode.Scalar, length: Int)? {
    guard let end = text.prefix(longestReference).firstIndex(of: UInt8(ascii: ";")) else {
      return nil
    }
    let name = String(decoding: text[text.startIndex..<end].dropFirst(), as: UTF8.self)
    let length = end + 1 - text.startIndex
    if let scalar = named[name] { return (scalar, length) }
    guard name.utf8.first == UInt8(ascii: "#") else { return nil }
    let digits = name.dropFirst()
    let number =
      digits.first == "x" || digits.first == "X"
      ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let number, number > 0x1F || number == 0x0A, let scalar = Unicode.Scalar(number) else {
      return nil
    }
    return (scalar, length)
  }

  /// The lines between tags that start one, without those that are empty. Line ends of the HTML itself are spaces.
  private static func lines(of text: String) -> [String] {
    text.unicodeScalars.split { $0.value == UInt32(lineMark) }.map { line in
      line.split { $0.properties.isWhitespace && $0.value != 0xA0 }.map(String.init)
        .joined(separator: " ")
    }.filter { !$0.isEmpty }
  }

  /// Stands where a tag starts a line. Hardly a text has a vertical tab.
  private static let lineMark: UInt8 = 0x0B

  /// The longest reference that is looked up, in bytes.
  private static let longestReference = 12

  /// Tags between words of one text. They leave no space.
  private static let inlineTags = ImportWords.inlineTag.set
  /// Tags whose content is no text.
  private static let hiddenTags: Set<String> = ["script", "style"]
  /// Tags that start a line.
  private static let tags = ImportWords.lineTag.set
  /// Other tags between texts.
  private static let spaceTags = ImportWords.spaceTag.set

  /// The named references of HTML 4 for Latin-1, punctuation and currencies.
  /// <https://www.w3.org/TR/html401/sgml/entities.html>
  private static let named: [String: Unicode.Scalar] = {
    var named: [String: Unicode.Scalar] = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "euro": "€", "ndash": "–",
      "mdash": "—", "lsquo": "‘", "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”",
      "bdquo": "„", "hellip": "…", "bull": "•", "trade": "™", "lsaquo": "‹", "rsaquo": "›",
      "OElig": "Œ", "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "ensp": "\u{2002}",
      "emsp": "\u{2003}", "thinsp": "\u{2009}", "zwnj": "\u{200C}", "zwj": "\u{200D}",
      "rarr": "→", "larr": "←", "star": "☆", "starf": "★", "check": "✓",
    ]
    for (offset, name) in ImportWords.latinReference.list.enumerated() {
      named[name] = Unicode.Scalar(UInt32(0xA0 + offset))
    }
    // A space is what people mean by it.
    named["nbsp"] = " "
    return named
  }()
}
