import Accounts
import SearchProxy

extension SettingsReader {
  /// Reads whose ID tokens are exchanged: `ISSUER#CLIENT` by commas, several clients of one issuer each with a `#`
  /// or an entry of its own; and `ISSUER#URL` for key sets that are not where discovery says.
  /// - Throws: ``SettingsError``.
  func readIssuers(into settings: inout Settings) throws(SettingsError) {
    var issuers: [(url: String, audiences: [String])] = []
    for entry in try entries(of: .issuers) {
      guard entry.count > 1, Self.isIssuer(entry[0]) else {
        throw Self.wrong(
          .issuers, "ISSUER#CLIENT, by commas, with an issuer that is \(IssuerURL.expected)")
      }
      if let place = issuers.firstIndex(where: { $0.url.utf8.elementsEqual(entry[0].utf8) }) {
        issuers[place].audiences += entry.dropFirst()
      } else {
        issuers.append((entry[0], Array(entry.dropFirst())))
      }
    }
    let places = try entries(of: .issuerKeys)
    for place in places {
      guard place.count == 2, IssuerURL(place[1]) != nil,
        issuers.contains(where: { $0.url.utf8.elementsEqual(place[0].utf8) }),
        places.count(where: { $0[0].utf8.elementsEqual(place[0].utf8) }) == 1
      else {
        throw Self.wrong(
          .issuerKeys,
          "ISSUER#URL, by commas, once for an issuer of issuers, with a URL that is "
            + IssuerURL.expected)
      }
    }
    settings.issuers = issuers.map { issuer in
      TrustedIssuer(
        url: issuer.url, audiences: issuer.audiences,
        keysURL: places.first { $0[0].utf8.elementsEqual(issuer.url.utf8) }?[1])
    }
    settings.issuerNetworks = try networks(.issuerNetworks)
  }

  /// The parts, none of them empty, of a list's entries.
  private func entries(of setting: SettingKey) throws(SettingsError) -> [[String]] {
    guard let text = string(setting) else { return [] }
    let entries = text.split { $0 == "," || $0 == " " }.map { entry in
      entry.split(separator: "#", omittingEmptySubsequences: false).map { String($0) }
    }
    guard !entries.isEmpty, entries.allSatisfy({ !$0.contains("") }) else {
      throw Self.wrong(setting, "a list of parts joined by #, none of them empty")
    }
    return entries
  }

  /// An issuer has no query (OpenID Connect Core 1.0, section 2).
  private static func isIssuer(_ text: String) -> Bool {
    IssuerURL(text) != nil && !text.utf8.contains(UInt8(ascii: "?"))
  }
}
