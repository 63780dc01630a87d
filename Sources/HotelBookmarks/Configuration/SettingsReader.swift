import Accounts
import Configuration
import Documents
import HTTPAPI
import HTTPServer
import IPAddresses
import Logging
import Stores

/// Reads the settings. A flag has priority over the environment, the environment over the file, the file over the
/// default.
package struct SettingsReader: Sendable {
  private let reader: ConfigReader

  /// - Parameter flags: the flags that were given, by setting.
  /// - Parameter environment: the process' environment.
  /// - Parameter file: the bytes of a JSON object of settings; nil for no file.
  /// - Throws: ``SettingsError`` for an unknown name or a value of the wrong kind.
  package init(
    flags: [SettingKey: String], environment: [String: String], file: [UInt8]?
  ) throws(SettingsError) {
    var flagValues: [AbsoluteConfigKey: ConfigValue] = [:]
    for (setting, text) in flags {
      flagValues[Self.path(setting)] = try Self.value(
        text, of: setting, named: "--" + setting.flagName)
    }
    try Self.check(environment)
    reader = ConfigReader(providers: [
      InMemoryProvider(name: "flags", values: flagValues),
      EnvironmentVariablesProvider(environmentVariables: environment)
        .prefixKeys(with: "hotel.bookmarks"),
      InMemoryProvider(
        name: "file",
        values: try file.map { bytes throws(SettingsError) in try Self.values(ofFile: bytes) }
          ?? [:]),
    ])
  }

  /// The settings.
  /// - Throws: ``SettingsError`` for an invalid value.
  package func settings() throws(SettingsError) -> Settings {
    var settings = Settings()
    settings.hostname = string(.hostname) ?? settings.hostname
    try read(.port, into: &settings.port, in: 0...65_535)
    settings.operationsPort = try int(.operationsPort, in: 0...65_535)
    settings.couchPort = try int(.couchPort, in: 0...65_535)
    let ports = [settings.port, settings.operationsPort, settings.couchPort].filter { $0 ?? 0 != 0 }
    guard Set(ports).count == ports.count else {
      throw SettingsError("port, operationsPort and couchPort must be different ports")
    }
    settings.data = string(.data) ?? settings.data
    settings.database = string(.database)
    settings.databasePasswordFile = string(.databasePasswordFile)
    try read(.databaseConnections, into: &settings.databaseConnections, in: 4...1_000)
    try read(.guestsPerHour, into: &settings.guestsPerHour, in: 1...1_000_000)
    try read(.guestOverallBytes, into: &settings.limits.guestOverallBytes, in: 1 << 20...Int.max)
    try read(.ownedListBytes, into: &settings.limits.ownedListBytes, in: 1 << 20...Int.max >> 8)
    try read(.guestBytesPerDay, into: &settings.limits.guestBytesPerDay, in: 1 << 20...Int.max)
    try read(.keptBytes, into: &settings.limits.keptBytes, in: 0...Int.max)
    settings.openStores = try int(.openStores, in: 4...100_000)
    try readDatabases(into: &settings)
    try read(.tombstoneDays, into: &settings.limits.tombstoneDays, in: 7...36_500)
    try readBackups(into: &settings)
    try readConnections(into: &settings)
    try readIssuers(into: &settings)
    settings.adminName = string(.adminName) ?? settings.adminName
    settings.adminPasswordFile = string(.adminPasswordFile)
    try readOrigins(into: &settings)
    if let text = string(.upstream) {
      guard let upstreams = UpstreamSetting.list(text) else {
        throw Self.wrong(.upstream, UpstreamSetting.expected)
      }
      settings.upstreams = upstreams
    }
    settings.upstreamCredentialsFile = string(.upstreamCredentialsFile)
    settings.upstreamCAFile = string(.upstreamCAFile)
    settings.upstreamNetworks = try networks(.upstreamNetworks)
    settings.replicationNetworks = try networks(.replicationNetworks)
    try read(.upstreamMilliseconds, into: &settings.upstreamMilliseconds, in: 100...600_000)
    try read(.searchMilliseconds, into: &settings.searchMilliseconds, in: 10...600_000)
    let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
    try read(.logLevel, into: &settings.logLevel, "one of " + levels)
    try read(.logFormat, into: &settings.logFormat, "text or json")
    try read(.audit, into: &settings.audit, "off, on or addresses")
    settings.showsCost = try int(.showCost, in: 0...1) == 1
    try read(.drainSeconds, into: &settings.drainSeconds, in: 0...300)
    return settings
  }

  private func readBackups(into settings: inout Settings) throws(SettingsError) {
    settings.backups = string(.backups).map(BackupAdministration.absolute)
    let kept = try int(.backupKeep, in: 1...10_000)
    settings.backupKeep = kept ?? settings.backupKeep
    let period = try seconds(.backupEvery)
    settings.backupSeconds = period ?? settings.backupSeconds
    if settings.backups == nil, period != nil || kept != nil {
      // Otherwise a person would rely on backups that are not made.
      throw Self.wrong(.backups, "given together with backupEvery and backupKeep")
    }
  }

  /// A time in hours or days, in seconds; nil if it is not set.
  private func seconds(_ setting: SettingKey) throws(SettingsError) -> Int64? {
    guard let text = string(setting) else { return nil }
    let units: [Character: Int64] = ["h": 3_600, "d": 86_400]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
      (1...366 * 24).contains(count), (3_600...366 * 86_400).contains(count * unit)
    else { throw Self.wrong(setting, "hours or days such as 24h or 7d, 1h to 366d") }
    return count * unit
  }

  private func readDatabases(into settings: inout Settings) throws(SettingsError) {
    try read(.databaseDocuments, into: &settings.limits.databases.documents, in: 1...Int.max)
    try read(.databaseBytes, into: &settings.limits.databases.bytes, in: 1...Int.max)
    try read(
      .databaseDocumentBytes, into: &settings.limits.databases.documentBytes,
      in: JSONLimits.document.maximumBytes...8_000_000)
    try read(
      .databaseTreeBytes, into: &settings.limits.databases.history.treeBytes,
      in: HistoryLimits.standard.treeBytes...64 << 20)
  }

  /// Reads the URLs that pages are compared with, in the form in which browsers send origins. A value that no browser sends
  /// would refuse every write of a page.
  private func readOrigins(into settings: inout Settings) throws(SettingsError) {
    if let text = string(.publicURL) {
      settings.publicURL = try Settings.serverURL(text, of: SettingKey.publicURL.rawValue)
    }
    for text in string(.origins)?.split(whereSeparator: { $0 == "," || $0 == " " }) ?? [] {
      guard text != "*" else {
        settings.origins.append("*")
        continue
      }
      guard let origin = WebOrigin(url: String(text)), origin.path.isEmpty else {
        throw Self.wrong(
          .origins,
          "* or origins such as https://app.example, separated by commas, without paths; \(text) is none"
        )
      }
      settings.origins.append(origin.text)
    }
  }

  private func readConnections(into settings: inout Settings) throws(SettingsError) {
    settings.connections = try int(.connections, in: 1...1_000_000)
    settings.connectionsPerAddress = try int(.connectionsPerAddress, in: 1...1_000_000)
    try read(.requestsAtOnce, into: &settings.requestsAtOnce, in: 1...1_000_000)
    try read(.overloadMilliseconds, into: &settings.overloadMilliseconds, in: 10...600_000)
    try read(.requestSeconds, into: &settings.requestSeconds, in: 1...3_600)
    try read(
      .requestProcessorMilliseconds, into: &settings.requestProcessorMilliseconds,
      in: 10...3_600_000)
    settings.trustedProxies = TrustedProxies(
      string(.trustedProxies) == "" ? [] : try networks(.trustedProxies))
    settings.tlsCertificateFile = string(.tlsCertificateFile)
    settings.tlsKeyFile = string(.tlsKeyFile)
    guard (settings.tlsCertificateFile == nil) == (settings.tlsKeyFile == nil) else {
      throw Self.wrong(.tlsKeyFile, "given together with tlsCertificateFile")
    }
  }

  /// A list of networks; empty if it is not set.
  func networks(_ setting: SettingKey) throws(SettingsError) -> [CIDRBlock] {
    guard let text = string(setting) else { return [] }
    let parts = text.split { $0 == "," || $0 == " " }
    let networks = parts.compactMap { CIDRBlock(String($0)) }
    guard !parts.isEmpty, networks.count == parts.count else {
      throw Self.wrong(
        setting, "addresses or networks such as 10.0.0.0/8 or fd00::/8, separated by commas")
    }
    return networks
  }

  /// A setting's text; nil if it is not set.
  func string(_ setting: SettingKey) -> String? {
    reader.string(forKey: ConfigKey([setting.rawValue]))
  }

  private func int(
    _ setting: SettingKey, in bounds: ClosedRange<Int>
  ) throws(SettingsError) -> Int? {
    guard let value = reader.int(forKey: ConfigKey([setting.rawValue])) else { return nil }
    guard bounds.contains(value) else {
      throw Self.wrong(setting, "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
    }
    return value
  }

  /// Sets a number to a setting's value; leaves it if the setting is not set.
  private func read<Number: FixedWidthInteger>(
    _ setting: SettingKey, into number: inout Number, in bounds: ClosedRange<Int>
  ) throws(SettingsError) {
    if let value = try int(setting, in: bounds) { number = Number(value) }
  }

  /// Sets a choice to the one that a setting names; leaves it if the setting is not set.
  private func read<Choice: RawRepresentable<String>>(
    _ setting: SettingKey, into choice: inout Choice, _ wanted: String
  ) throws(SettingsError) {
    guard let text = string(setting) else { return }
    guard let known = Choice(rawValue: text) else { throw Self.wrong(setting, wanted) }
    choice = known
  }

  private static func check(_ environment: [String: String]) throws(SettingsError) {
    for (name, text) in environment.sorted(by: { $0.key < $1.key })
    where name.hasPrefix(SettingKey.environmentPrefix) {
      guard let setting = SettingKey.allCases.first(where: { $0.environmentName == name }) else {
        throw SettingsError("\(name) is not a setting; serve --help lists all settings")
      }
      _ = try value(text, of: setting, named: name)
    }
  }

  private static func values(
    ofFile bytes: [UInt8]
  ) throws(SettingsError) -> [AbsoluteConfigKey: ConfigValue] {
    let root: JSONNode
    do { root = try ParsedJSON(bytes, limits: .small).root } catch {
      throw SettingsError("The configuration file is not JSON: \(error.reason)")
    }
    guard root.kind == .object else {
      throw SettingsError("The configuration file must be a JSON object")
    }
    var values: [AbsoluteConfigKey: ConfigValue] = [:]
    for member in root.members {
      guard let setting = SettingKey(rawValue: member.name) else {
        throw SettingsError("\(member.name) is not a setting; serve --help lists all settings")
      }
      guard let text = setting.isNumber ? member.value.number?.text : member.value.string else {
        let wanted = setting.isNumber ? "a whole number" : "a string"
        throw SettingsError("\(member.name) must be \(wanted)")
      }
      values[path(setting)] = try value(text, of: setting, named: member.name)
    }
    return values
  }

  private static func value(
    _ text: String, of setting: SettingKey, named name: String
  ) throws(SettingsError) -> ConfigValue {
    guard setting.isNumber else { return ConfigValue(.string(text), isSecret: false) }
    guard let number = Int(text) else {
      throw SettingsError("\(name) must be a whole number")
    }
    return ConfigValue(.int(number), isSecret: false)
  }

  private static func path(_ setting: SettingKey) -> AbsoluteConfigKey {
    AbsoluteConfigKey([setting.rawValue])
  }

  static func wrong(_ setting: SettingKey, _ wanted: String) -> SettingsError {
    SettingsError("\(setting.rawValue) must be \(wanted)")
  }

  /// Reads the issuers whose ID tokens are accepted: `ISSUER#CLIENT`, separated by commas. Further clients of an issuer
  /// follow with a `#` each, or have an entry of their own. Also reads `ISSUER#URL` for key sets at another URL than
  /// discovery says.
  /// - Throws: ``SettingsError``.
  func readIssuers(into settings: inout Settings) throws(SettingsError) {
    var issuers: [(url: String, audiences: [String])] = []
    for entry in try entries(of: .issuers) {
      guard entry.count > 1, Self.isIssuer(entry[0]) else {
        throw Self.wrong(
          .issuers,
          "ISSUER#CLIENT, separated by commas, with an issuer that is \(IssuerURL.expected)")
      }
      if let index = issuers.firstIndex(where: { $0.url.utf8.elementsEqual(entry[0].utf8) }) {
        issuers[index].audiences += entry.dropFirst()
      } else {
        issuers.append((entry[0], Array(entry.dropFirst())))
      }
    }
    let keySources = try entries(of: .issuerKeys)
    for source in keySources {
      guard source.count == 2, IssuerURL(source[1]) != nil,
        issuers.contains(where: { $0.url.utf8.elementsEqual(source[0].utf8) }),
        keySources.count(where: { $0[0].utf8.elementsEqual(source[0].utf8) }) == 1
      else {
        throw Self.wrong(
          .issuerKeys,
          "ISSUER#URL, separated by commas, once for an issuer of issuers, with a URL that is "
            + IssuerURL.expected)
      }
    }
    settings.issuers = issuers.map { issuer in
      TrustedIssuer(
        url: issuer.url, audiences: issuer.audiences,
        keysURL: keySources.first { $0[0].utf8.elementsEqual(issuer.url.utf8) }?[1])
    }
    settings.issuerNetworks = try networks(.issuerNetworks)
  }

  /// The parts of each entry of a list; none of them is empty.
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

  /// Whether a text is an issuer's URL, which has no query (OpenID Connect Core 1.0, section 2).
  private static func isIssuer(_ text: String) -> Bool {
    IssuerURL(text) != nil && !text.utf8.contains(UInt8(ascii: "?"))
  }
}
