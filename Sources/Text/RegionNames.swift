import CICU

/// The names of a country and of cities in it, in English and in the languages that are spoken there, by ICU.
///
/// Source: Unicode CLDR, "Territory names" and "Exemplar cities" (of time zones).
package struct RegionNames: Sendable {
  /// The code with two letters of ISO 3166.
  package let code: String
  /// Its codes and names.
  package let names: [String]
  /// Its names in languages of other countries: ``foreign``.
  package let foreignNames: [String]
  /// Its cities.
  package let cities: [CityNames]

  package struct CityNames: Sendable {
    package let names: [String]
    package let foreignNames: [String]
  }

  /// The languages in which many lists of hotels are written.
  private static let foreign = [
    "ar", "bn", "cs", "da", "de", "el", "es", "fi", "fr", "he", "hi", "hu", "id", "it", "ja",
    "km", "ko", "lo", "nb", "nl", "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi",
    "zh", "zh_Hant",
  ]

  /// All countries and territories. This takes some tens of milliseconds.
  package static func all() -> [RegionNames] {
    var locales: [String: Set<String>] = [:]
    for index in 0..<cicu_locale_count() {
      guard let locale = cicu_locale(index).map({ String(cString: $0) }) else { continue }
      var bytes = [CChar](repeating: 0, count: 4)
      cicu_locale_region(locale, &bytes)
      let region = String(
        decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // Only the language and the script: a locale of a country mostly repeats the names of its language.
      if !region.isEmpty {
        locales[region, default: []].insert(
          locale.split(separator: "_").filter { $0 != region }.joined(separator: "_"))
      }
    }
    return codes.map { RegionNames($0, languages: (locales[$0] ?? []).subtracting(["en"])) }
  }

  private init(_ code: String, languages: Set<String>) {
    self.code = code
    let languages = languages.sorted()
    let three = cicu_region_three(code).map { String(cString: $0) } ?? ""
    func named(in languages: [String]) -> [String] {
      languages.compactMap { language in Self.name { cicu_region_name(code, language, $0, $1) } }
    }
    names = [code, three].filter { !$0.isEmpty } + named(in: ["en"] + languages)
    // A short name of two letters may be another country's code: the Spanish RU is not Russia.
    let short = Self.foreign.compactMap { language in
      Self.name { cicu_region_short_name(code, language, $0, $1) }
    }.filter { $0.unicodeScalars.filter(\.properties.isAlphabetic).count > 2 }
    foreignNames = named(in: Self.foreign) + short
    cities = Self.zones(of: code).map { zone in
      let id = zone.split(separator: "/").last ?? ""
      func named(in languages: [String]) -> [String] {
        languages.compactMap { language in Self.name { cicu_zone_city(zone, language, $0, $1) } }
      }
      let english = named(in: ["en"])
      // English data leave a city out whose name is in the id.
      return CityNames(
        names: (english.isEmpty ? [String(id.map { $0 == "_" ? " " : $0 })] : english)
          + named(in: languages),
        foreignNames: named(in: Self.foreign))
    }
  }

  private static var codes: [String] {
    guard var next = cicu_regions() else { return [] }
    var codes: [String] = []
    while let code = next.pointee {
      codes.append(String(cString: code))
      next += 1
    }
    return codes
  }

  private static func zones(of region: String) -> [String] {
    var zones: [String] = []
    withUnsafeMutablePointer(to: &zones) { zones in
      cicu_zones(region, zones) { zones, zone in
        guard let zones, let zone else { return }
        zones.assumingMemoryBound(to: [String].self).pointee.append(String(cString: zone))
      }
    }
    return zones
  }

  private static func name(_ write: (UnsafeMutablePointer<UInt16>, Int32) -> Int32) -> String? {
    let units = [UInt16](unsafeUninitializedCapacity: 128) { units, count in
      count = units.baseAddress.map { Int(write($0, 128)) } ?? 0
      if !(0...128).contains(count) { count = 0 }
    }
    return units.isEmpty ? nil : String(decoding: units, as: UTF16.self)
  }
}
