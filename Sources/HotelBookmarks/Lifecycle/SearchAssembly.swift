import Catalogue
import Hotels
import IPAddresses
import Logging
import Scheduling
import SearchProxy

/// The upstreams of the settings, with their protection and their cache.
///
/// The embedded catalogue needs no protection. Each upstream over HTTP has its own circuit breaker, limit of calls and
/// retry budget. The first upstream that can answer is used. A cache on the disk keeps their answers.
struct SearchAssembly: Sendable {
  let search: any HotelSearching
  let mirror: ScratchCatalogue
  /// The upstreams over HTTP, in the order in which they are asked.
  let guarded: [GuardedSearch]
  /// Whether the catalogue in this process is an upstream.
  var hasCatalogue: Bool { catalogue != nil }
  /// The cache of answers of upstreams over HTTP; nil without such upstreams.
  let cache: Confined<SearchCache>?
  private let catalogue: HotelCatalogue?
  private let clients: [UpstreamClient]

  /// - Throws: ``SettingsError`` for an invalid URL or file. A catalogue that can't be used does not prevent the start:
  ///   bookmarks work without it, and searches report the reason.
  init(_ settings: Settings, logger: Logger) async throws {
    let limit = Duration.milliseconds(settings.searchMilliseconds)
    let deadline = Duration.milliseconds(settings.upstreamMilliseconds)
    mirror = ScratchCatalogue(limit: limit)
    catalogue =
      settings.upstreams.contains(.embedded) ? await Self.catalogue(settings, logger) : nil
    guard settings.upstreams.contains(where: { $0 != .embedded }) else {
      (cache, clients, guarded) = (nil, [], [])
      search = catalogue ?? HotelCatalogue(directory: settings.data, limit: limit)
      return
    }
    var clients: [UpstreamClient] = []
    var guarded: [GuardedSearch] = []
    var upstreams: [any HotelSearching] = []
    let credentials = try settings.upstreamCredentialsFile.map {
      path throws(SettingsError) in try UpstreamCredentials(file: path)
    }
    let trust = try Self.trust(settings.upstreamCAFile)
    for (number, setting) in settings.upstreams.enumerated() {
      guard setting != .embedded else {
        if let catalogue { upstreams.append(catalogue) }
        continue
      }
      let name = "\(number + 1)-\(setting.kind)"
      let url = try Self.url(of: setting)
      let client = UpstreamClient(
        timeouts: UpstreamTimeouts(searching: deadline),
        addresses: AddressRule(host: url.origin.host, networks: settings.upstreamNetworks),
        trust: trust, upstream: name)
      clients.append(client)
      let upstream = GuardedSearch(
        Self.upstream(setting, url, name, client, credentials ?? UpstreamCredentials(), logger),
        name: name, settings: GuardedSearch.Settings(deadline: deadline), logger: logger)
      guarded.append(upstream)
      upstreams.append(upstream)
    }
    self.clients = clients
    self.guarded = guarded
    let cache = Confined(
      SearchCache(path: DataFiles.searchCache(in: settings.data), logger: logger))
    self.cache = cache
    let breakers = guarded
    search = CachedSearch(
      upstreams.count == 1 ? upstreams[0] : FallbackSearch(upstreams, deadline: deadline),
      upstream: settings.upstreams.map(\.name).joined(separator: " "), cache: cache,
      // Only the catalogue in this process can match in other ways than by phrase.
      matching: settings.upstreams.contains(.embedded) ? nil : .phrase,
      isRecovering: { breakers.contains { $0.isRecovering } }, now: SystemClock.now,
      logger: logger)
  }

  func close() async {
    await catalogue?.stop()
    await cache?.close()
    for client in clients { await client.shutdown() }
    await mirror.stop()
  }

  private static func catalogue(_ settings: Settings, _ logger: Logger) async -> HotelCatalogue {
    let catalogue = HotelCatalogue(
      directory: settings.data, limit: .milliseconds(settings.searchMilliseconds))
    do {
      try await catalogue.prepare(at: SystemClock.now())
    } catch {
      logger.error(
        "the catalogue can't be used",
        metadata: ["error": "\(error.code)", "detail": "\(error.reason)"])
    }
    return catalogue
  }

  private static func trust(_ file: String?) throws(SettingsError) -> UpstreamTrust {
    guard let file else { return UpstreamTrust() }
    do { return try UpstreamTrust(file: file) } catch {
      throw SettingsError("upstreamCaFile must be a PEM file of certificates")
    }
  }

  private static func upstream(
    _ setting: UpstreamSetting, _ url: UpstreamURL, _ name: String, _ client: UpstreamClient,
    _ credentials: UpstreamCredentials, _ logger: Logger
  ) -> any RemoteUpstream {
    let (dialect, index): (any QueryDialect, String)
    switch setting {
    case .embedded, .travelSample:
      return TravelSampleUpstream(client: client, baseURL: url, name: name, logger: logger)
    case .couchbase(_, let name): (dialect, index) = (CouchbaseDialect(), name)
    case .openSearch(_, let name): (dialect, index) = (OpenSearchDialect(), name)
    }
    return QueryUpstream(
      client: client, baseURL: url, dialect: dialect, index: index,
      authorization: credentials.authorization(for: url), name: name, logger: logger)
  }

  private static func url(of setting: UpstreamSetting) throws(SettingsError) -> UpstreamURL {
    let text: String
    switch setting {
    case .embedded: throw SettingsError("upstream: the embedded catalogue has no URL")
    case .travelSample(let url), .couchbase(let url, _), .openSearch(let url, _): text = url
    }
    do { return try UpstreamURL(text) } catch {
      throw SettingsError("upstream: \(error.reason)")
    }
  }
}

extension UpstreamSetting {
  /// The kind of upstream, for the names of metrics.
  fileprivate var kind: String {
    switch self {
    case .embedded: "embedded"
    case .travelSample: "travel-sample"
    case .couchbase: "couchbase"
    case .openSearch: "opensearch"
    }
  }
}
