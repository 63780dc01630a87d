import Catalogue
import Hotels
import Logging
import SearchProxy

/// The upstream that the settings name, and what has to be given back after it.
struct SearchAssembly: Sendable {
  let search: any HotelSearching
  private let catalogue: HotelCatalogue?
  private let client: UpstreamClient?

  /// - Throws: ``SettingsError`` for a URL that can't be one. A catalogue that can't be used is no reason
  ///   not to start: bookmarks work, searches say why they don't.
  init(_ settings: Settings, logger: Logger) async throws {
    switch settings.upstream {
    case .embedded:
      let catalogue = HotelCatalogue(directory: settings.data)
      do {
        try await catalogue.prepare(at: SystemClock.now())
      } catch {
        logger.error(
          "the catalogue can't be used",
          metadata: ["error": "\(error.code)", "detail": "\(error.reason)"])
      }
      search = catalogue
      self.catalogue = catalogue
      client = nil
    case .travelSample(let text):
      let url: UpstreamURL
      do { url = try UpstreamURL(text) } catch {
        throw SettingsError(description: "upstream: \(error.reason)")
      }
      let client = UpstreamClient()
      search = RememberingSearch(TravelSampleUpstream(client: client, baseURL: url, logger: logger))
      catalogue = nil
      self.client = client
    }
  }

  func close() async {
    await catalogue?.stop()
    await client?.shutdown()
  }
}
