/// What the administrator looks at and starts, as the composition root hands it in: none of it is known here by how it
/// is done.
package struct Administration: Sendable {
  /// An upstream over HTTP, or the catalogue in this process.
  package struct Upstream: Sendable {
    /// Its name in metrics and logs.
    package let name: String
    /// What its circuit breaker does: `closed`, `open` or `half-open`; nil for one that has none.
    package let breaker: String?
    /// Whether it was away until a short while ago.
    package let isRecovering: Bool
    /// Its calls since the start, by outcome.
    package let calls: [(outcome: String, count: Int)]

    /// An upstream by its parts.
    package init(
      name: String, breaker: String?, isRecovering: Bool, calls: [(outcome: String, count: Int)]
    ) {
      self.name = name
      self.breaker = breaker
      self.isRecovering = isRecovering
      self.calls = calls
    }
  }

  /// What keeps answers of upstreams.
  package struct Cache: Sendable {
    /// Bytes of answers that are kept.
    package let answerBytes: Int
    /// Bytes of answers that may be kept.
    package let maximumBytes: Int
    /// Hotels that are kept by id.
    package let hotels: Int
    /// Searches since the start, by what the cache did.
    package let searches: [(result: String, count: Int)]

    /// A cache by its parts.
    package init(
      answerBytes: Int, maximumBytes: Int, hotels: Int, searches: [(result: String, count: Int)]
    ) {
      self.answerBytes = answerBytes
      self.maximumBytes = maximumBytes
      self.hotels = hotels
      self.searches = searches
    }
  }

  /// Connections and requests, as they are now.
  package struct Traffic: Sendable {
    /// Connections that are open.
    package var connections = 0
    /// Connections that were refused since the start.
    package var refusedConnections = 0
    /// Requests that are being answered.
    package var requests = 0
    /// Requests that were refused since the start.
    package var refusedRequests = 0
    /// The addresses with the most connections, the most first.
    package var addresses: [(address: String, connections: Int)] = []

    /// Nothing.
    package init() {}
  }

  /// Bytes that come piece by piece.
  package typealias Pieces = any AsyncSequence<[UInt8], any Error> & Sendable
  /// Work whose progress is told, and that answers a line of what it came to.
  package typealias Work = @Sendable (AdministrationJobs.Report) async throws -> String

  /// What the server did in the last hour.
  package let history: HistoryRecorder
  /// What the administrator has started.
  package let jobs: AdministrationJobs
  /// The upstreams, in the order in which they are asked.
  package let upstreams: @Sendable () -> [Upstream]
  /// What keeps their answers; nil where nothing does.
  package let cache: @Sendable () async -> Cache?
  /// Connections and requests.
  package let traffic: @Sendable (_ addresses: Int) -> Traffic
  /// Makes a backup.
  package let backUp: Work
  /// Looks through all stores.
  package let verify: Work
  /// Puts other hotels into the catalogue: bad rows are left out where it is not strict.
  package let importCatalogue:
    @Sendable (_ isStrict: Bool, _ pieces: Pieces, AdministrationJobs.Report) async throws -> String

  /// An administration by its parts.
  package init(
    history: HistoryRecorder, jobs: AdministrationJobs,
    upstreams: @escaping @Sendable () -> [Upstream], cache: @escaping @Sendable () async -> Cache?,
    traffic: @escaping @Sendable (Int) -> Traffic, backUp: @escaping Work,
    verify: @escaping Work,
    importCatalogue:
      @escaping @Sendable (
        Bool, Pieces, AdministrationJobs.Report
      ) async throws -> String
  ) {
    self.history = history
    self.jobs = jobs
    self.upstreams = upstreams
    self.cache = cache
    self.traffic = traffic
    self.backUp = backUp
    self.verify = verify
    self.importCatalogue = importCatalogue
  }
}
