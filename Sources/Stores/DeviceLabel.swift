/// What a device says of itself when it syncs.
package struct DeviceLabel: Sendable, Hashable {
  /// The longest name, in bytes of UTF-8.
  package static let nameBytes = 64
  /// How much of a client's description is kept, in bytes of UTF-8.
  package static let agentBytes = 200

  /// The name that its owner gave it; nil for none.
  package let name: String?
  /// The client's description of itself (`User-Agent`); nil for none.
  package let agent: String?

  /// Makes a label of texts that a client sent. They are cut at their longest length; nil if there is neither.
  package init?(name: String?, agent: String?) {
    self.name = name.flatMap { Self.text($0, Self.nameBytes) }
    self.agent = agent.flatMap { Self.text($0, Self.agentBytes) }
    if self.name == nil, self.agent == nil { return nil }
  }

  /// The text without control characters, cut between two characters; nil for an empty one.
  private static func text(_ sent: String, _ limit: Int) -> String? {
    if !sent.isEmpty, sent.utf8.count <= limit,
      sent.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    {
      return sent
    }
    var scalars = String.UnicodeScalarView()
    var count = 0
    for scalar in sent.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
      count += UTF8.width(scalar)
      guard count <= limit else { break }
      scalars.append(scalar)
    }
    return scalars.isEmpty ? nil : String(scalars)
  }
}
