import Documents
import FoundationEssentials
import SearchProxy

/// The names and passwords that search engines are asked with, from a file that only the server may read: a
/// line for each engine, its origin, a blank, and `USER:PASSWORD`.
///
/// They go to the origin that they stand beside and nowhere else; what a person sends never reaches an engine.
struct UpstreamCredentials: Sendable {
  private let fields: [UpstreamOrigin: String]

  /// None.
  init() { fields = [:] }

  /// Reads a file.
  /// - Throws: ``SettingsError`` that names the line, never what is in it.
  init(file path: String) throws(SettingsError) {
    guard let data = FileManager.default.contents(atPath: path),
      let text = String(validating: data, as: UTF8.self)
    else { throw SettingsError(description: "upstreamCredentialsFile can't be read as UTF-8") }
    var fields: [UpstreamOrigin: String] = [:]
    for (number, line) in text.split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).enumerated()
    where !line.isEmpty && !line.hasPrefix("#") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, parts[1].contains(":"), let url = try? UpstreamURL(String(parts[0]))
      else {
        throw SettingsError(
          description: "upstreamCredentialsFile line \(number + 1) must be: URL USER:PASSWORD")
      }
      fields[url.origin] = "Basic " + Data(parts[1].utf8).base64EncodedString()
    }
    self.fields = fields
  }

  /// The value of `Authorization` for an engine; nil for none.
  func authorization(for url: UpstreamURL) -> String? { fields[url.origin] }
}
