import Documents

/// The texts of a file's object beside its list of hotels, such as its `type` or the city, which ``ObjectOutline`` finds byte
/// by byte.
struct RootTexts {
  private var texts: [(name: String, text: [UInt8])] = []
  /// Whether the last text goes on.
  private(set) var isOpen = false

  /// The most texts, and the most bytes of one, that are kept.
  private static let (mostTexts, longest) = (32, 128)

  /// Begins the text of a member.
  mutating func begin(_ name: [UInt8]) {
    guard texts.count < Self.mostTexts else { return }
    texts.append((String(decoding: name, as: UTF8.self), []))
    isOpen = true
  }

  /// Takes a byte of the text.
  mutating func take(_ byte: UInt8) {
    guard let last = texts.indices.last, texts[last].text.count < Self.longest else { return }
    texts[last].text.append(byte)
  }

  mutating func end() { isOpen = false }

  /// Whether the member `type` has this text.
  func areOfType(_ type: String) -> Bool {
    texts.contains { $0.name == "type" && $0.text.elementsEqual(type.utf8) }
  }

  /// What the texts say about the place of the hotels. The name of a map's layer says nothing.
  var place: GroupedLists.Place {
    guard !areOfType("FeatureCollection") else { return GroupedLists.Place() }
    let members = texts.map { member in
      (
        member.name,
        JSONValue.string(String(decoding: GroupedLists.unescaped(member.text), as: UTF8.self))
      )
    }
    return GroupedLists.place(in: members, within: GroupedLists.Place())
  }
}
