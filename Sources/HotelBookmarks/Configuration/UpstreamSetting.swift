import FoundationEssentials
import SearchProxy

/// An upstream in the form of the setting.
package enum UpstreamSetting: Sendable, Equatable {
  /// `embedded`: the catalogue in this process.
  case embedded
  /// `http://…` or `https://…`: a travel-sample back end at this base URL.
  case travelSample(String)
  /// `couchbase:http://host:8094#index`: Couchbase's Search Service.
  case couchbase(url: String, index: String)
  /// `opensearch:http://host:9200#index`: OpenSearch or Elasticsearch.
  case openSearch(url: String, index: String)

  /// The allowed values, for the message about an invalid one.
  static let expected = """
    embedded, an http or https URL, couchbase:URL#INDEX or opensearch:URL#INDEX; several, in the order in \
    which they are to be asked, by commas
    """

  /// Reads one upstream; nil for anything else.
  package init?(_ text: String) {
    if text == "embedded" {
      self = .embedded
    } else if Self.isURL(text[...]) {
      self = .travelSample(text)
    } else if let (url, index) = Self.engine(text, "couchbase:") {
      self = .couchbase(url: url, index: index)
    } else if let (url, index) = Self.engine(text, "opensearch:") {
      self = .openSearch(url: url, index: index)
    } else {
      return nil
    }
  }

  /// Reads a list of upstreams; nil if it is empty or an entry is invalid.
  static func list(_ text: String) -> [UpstreamSetting]? {
    let parts = text.split { $0 == "," || $0 == " " }
    let upstreams = parts.compactMap { UpstreamSetting(String($0)) }
    return parts.isEmpty || upstreams.count != parts.count ? nil : upstreams
  }

  /// Its name in the start-up banner, in metrics and in logs.
  package var name: String {
    switch self {
    case .embedded: "the embedded catalogue"
    case .travelSample(let url): url
    case .couchbase(let url, let index): "\(url) (couchbase, \(index))"
    case .openSearch(let url, let index): "\(url) (opensearch, \(index))"
    }
  }

  private static func isURL(_ text: Substring) -> Bool {
    text.hasPrefix("http://") || text.hasPrefix("https://")
  }

  private static func engine(_ text: String, _ kind: String) -> (url: String, index: String)? {
    guard text.hasPrefix(kind) else { return nil }
    let parts = text.dropFirst(kind.count).split(separator: "#", omittingEmptySubsequences: false)
    guard parts.count == 2, isURL(parts[0]), !parts[1].isEmpty else { return nil }
    return (String(parts[0]), String(parts[1]))
  }
}

/// The names and passwords for search engines, from a file that only the server should be able to read. Each engine has
/// a line: its URL, a space, and `USER:PASSWORD`.
///
/// Credentials are sent only to the origin on their line. Credentials of people are never sent to an engine.
struct UpstreamCredentials: Sendable {
  private let fields: [UpstreamOrigin: String]

  init() { fields = [:] }

  /// Reads a file.
  /// - Throws: ``SettingsError`` that names the line, but never its content.
  init(file path: String) throws(SettingsError) {
    guard let data = FileManager.default.contents(atPath: path),
      let text = String(validating: data, as: UTF8.self)
    else { throw SettingsError("upstreamCredentialsFile can't be read as UTF-8") }
    var fields: [UpstreamOrigin: String] = [:]
    for (number, line) in text.split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).enumerated()
    where !line.isEmpty && !line.hasPrefix("#") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, parts[1].contains(":"), let url = try? UpstreamURL(String(parts[0]))
      else {
        throw SettingsError("upstreamCredentialsFile line \(number + 1) must be: URL USER:PASSWORD")
      }
      fields[url.origin] = "Basic " + Data(parts[1].utf8).base64EncodedString()
    }
    self.fields = fields
  }

  /// The value of `Authorization` for an engine; nil if it has no credentials.
  func authorization(for url: UpstreamURL) -> String? { fields[url.origin] }
}
