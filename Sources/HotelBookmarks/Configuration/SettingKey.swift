/// Every setting's name, as a configuration file writes it. A flag writes it in kebab case, the environment
/// as `HOTEL_BOOKMARKS_` and upper snake case. A name that is not here refuses to start.
package enum SettingKey: String, CaseIterable, Sendable {
  case hostname
  case port
  case operationsPort
  case data
  case upstream
  case upstreamCredentialsFile
  case upstreamNetworks
  case upstreamCAFile = "upstreamCaFile"
  case publicURL = "publicUrl"
  case origins
  case trustedProxies
  case tlsCertificateFile
  case tlsKeyFile
  case connections
  case connectionsPerAddress
  case requestsAtOnce
  case guestsPerHour
  case issuers
  case issuerKeys
  case issuerNetworks
  case openStores
  case databaseDocuments
  case databaseBytes
  case databaseDocumentBytes
  case databaseTreeBytes
  case adminName
  case adminPasswordFile
  case logLevel
  case logFormat
  case showCost
  case drainSeconds

  /// What names in the environment start with.
  static let environmentPrefix = "HOTEL_BOOKMARKS_"

  /// The name in the environment.
  package var environmentName: String { Self.environmentPrefix + words(joinedBy: "_").uppercased() }

  /// The name as a command-line flag, without dashes before it.
  package var flagName: String { words(joinedBy: "-") }

  /// Whether the setting is a whole number.
  var isNumber: Bool {
    switch self {
    case .port, .operationsPort, .guestsPerHour, .openStores, .connections, .connectionsPerAddress,
      .requestsAtOnce, .databaseDocuments, .databaseBytes, .databaseDocumentBytes,
      .databaseTreeBytes, .showCost, .drainSeconds:
      true
    case .hostname, .data, .upstream, .upstreamCredentialsFile, .upstreamNetworks,
      .upstreamCAFile, .publicURL, .origins, .issuers, .issuerKeys, .issuerNetworks,
      .trustedProxies, .tlsCertificateFile, .tlsKeyFile,
      .adminName, .adminPasswordFile, .logLevel, .logFormat:
      false
    }
  }

  private func words(joinedBy joiner: String) -> String {
    rawValue.reduce(into: "") { text, character in
      text += character.isUppercase ? joiner + character.lowercased() : String(character)
    }
  }
}
