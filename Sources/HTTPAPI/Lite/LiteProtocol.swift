import LiteSync

/// What a client of Couchbase Lite offers in `Sec-WebSocket-Protocol`.
enum LiteProtocol {
  /// The protocols of Couchbase Lite's sync, the preferred one first. Version 4 offers `_3` too where it can do with it.
  private static let names = ["BLIP_3+CBMobile_3", "BLIP_3+CBMobile_2", "BLIP_3+CBMobile_4"]
  /// What precedes a token: Couchbase Lite for JavaScript can set no header field.
  private static let tokenPrefix = "SyncGatewaySession_"

  /// The protocol to use, with the form of its revisions; nil if the client offers none of them.
  static func choose(among offered: [String]) -> (name: String, form: LiteForm)? {
    guard let name = names.first(where: offered.contains) else { return nil }
    return (name, name == names.last ? .vectors : .trees)
  }

  /// Whether a protocol is that of Couchbase Lite 2.
  static func isSecond(_ name: String) -> Bool { name == names[1] }

  /// The token among the offered names; nil for none.
  static func token(among offered: [String]) -> String? {
    let entry = offered.first { $0.utf8.starts(with: tokenPrefix.utf8) }
    return entry.map { String(Substring($0.utf8.dropFirst(tokenPrefix.utf8.count))) }
  }
}
