import Documents
import HTTPAPI
import HTTPServer
import HummingbirdCore
import Logging
import Scheduling
import ServiceLifecycle
import Stores

/// The limits of connections, and their certificate.
struct ConnectionAssembly: Sendable {
  /// File descriptors that are reserved for logs, keys, upstreams and the catalogue.
  private static let spareDescriptors = 256
  /// File descriptors of an open store: two each of its file and its write-ahead log, and one while it is being opened.
  private static let descriptorsPerStore = 5
  /// The least number of connections, even with few file descriptors.
  private static let fewestConnections = 64

  let caps: ConnectionCaps
  let certificates: Certificates?
  let admission: Admission
  let crossOrigin: CrossOrigin
  private let ledger: ConnectionLedger
  private let proxies: TrustedProxies

  /// - Throws: ``SettingsError`` for a certificate that can't be used.
  init(_ settings: Settings) throws {
    var caps = ConnectionCaps()
    caps.total =
      settings.connections
      ?? Self.connections(descriptors: FileDescriptors.limit, openStores: settings.openStores)
    caps.perAddress = settings.connectionsPerAddress ?? caps.perAddress
    caps.countsLoopback = settings.connectionsPerAddress != nil
    caps.requestsAtOnce = settings.requestsAtOnce
    caps.requestSeconds = settings.requestSeconds
    caps.requestProcessorMilliseconds = settings.requestProcessorMilliseconds
    if let limit = ControlGroup.memoryLimit {
      caps.bodyMemoryBytes = ControlGroup.share(
        of: limit, least: RequestLimits.leastBodyMemoryBytes, most: caps.bodyMemoryBytes)
      caps.answerMemoryBytes = ControlGroup.share(
        of: limit, least: RequestLimits.leastAnswerMemoryBytes, most: caps.answerMemoryBytes)
    }
    self.caps = caps
    crossOrigin = CrossOrigin(origins: settings.origins, publicURL: settings.publicURL)
    proxies = settings.trustedProxies
    admission = Admission(
      atOnce: caps.requestsAtOnce, memory: caps.bodyMemoryBytes,
      answerMemory: caps.answerMemoryBytes,
      longestLag: .milliseconds(settings.overloadMilliseconds))
    ledger = ConnectionLedger(
      maximum: caps.total, maximumPerAddress: caps.perAddress,
      maximumLingering: Self.spare(descriptors: FileDescriptors.limit) / 8)
    if let certificate = settings.tlsCertificateFile, let key = settings.tlsKeyFile {
      do { certificates = try Certificates(certificateFile: certificate, keyFile: key) } catch {
        throw SettingsError(
          "The certificate \(certificate) or its key \(key) can't be used (\(error)): "
            + "tlsCertificateFile and tlsKeyFile must name PEM files that belong together and may be read"
        )
      }
    } else {
      certificates = nil
    }
  }

  /// The number of connections for which the limit of file descriptors is enough, besides the stores.
  static func connections(descriptors: Int, openStores: Int?) -> Int {
    let stores =
      openStores
      ?? DatabaseManager.maximumOpen(
        descriptorLimit: descriptors, descriptorsPerStore: descriptorsPerStore)
    let free = descriptors - descriptorsPerStore * stores - spare(descriptors: descriptors)
    return min(RequestLimits.connections, max(fewestConnections, free))
  }

  /// Tells the operator that the limit on file descriptors is too low for what the settings allow: stores or connections
  /// then fail before their own limits are reached.
  /// - Returns: nil if it is enough, or if the settings name neither.
  static func shortage(of settings: Settings, descriptors: Int) -> String? {
    guard settings.connections != nil || settings.openStores != nil else { return nil }
    let stores = settings.database == nil ? (settings.openStores ?? 0) * descriptorsPerStore : 0
    let needed =
      stores + (settings.connections ?? fewestConnections) + spare(descriptors: descriptors)
    guard needed > descriptors else { return nil }
    return "openStores and connections need \(needed), and the limit is \(descriptors): "
      + "raise it (ulimit -n, LimitNOFILE of systemd) or lower the settings"
  }

  private static func spare(descriptors: Int) -> Int { min(spareDescriptors, descriptors / 4) }

  /// Builds the HTTP server.
  func server(_ answers: any RequestAnswering, _ logger: Logger) -> HTTPServerBuilder {
    HTTPServerBuilder { _ in
      let (proxies, countsLoopback) = (proxies, caps.countsLoopback)
      let limits = ConnectionLimits(requestSeconds: caps.requestSeconds)
      guard let certificates else {
        return CountedConnection(
          PlainConnection(answers: answers, limits: limits, admission: admission),
          ledger: ledger, isSecure: false, answers: answers
        ) { proxies.owner(of: $0, countsLoopback: countsLoopback) }
      }
      return CountedConnection(
        SecureConnection(
          answers: answers, certificates: certificates, limits: limits, admission: admission,
          logger: logger),
        ledger: ledger, isSecure: true, answers: answers
      ) { proxies.owner(of: $0, countsLoopback: countsLoopback) }
    }
  }

  /// Connections and requests, for the server's history.
  var totals: ServerHistory.Totals {
    var totals = ServerHistory.Totals()
    let counts = ledger.counts
    totals.connections = counts.open
    totals.limited = counts.refused + admission.refusedCount
    return totals
  }

  /// Writes connections and requests, for the administrator, and at most this number of addresses.
  func write(addresses: Int, to writer: inout JSONWriter) {
    let counts = ledger.counts
    writer.member("open", counts.open)
    writer.member("refused", counts.refused)
    writer.member("requests", admission.runningCount)
    writer.member("refusedRequests", admission.refusedCount)
    writer.objects("addresses", of: ledger.busiest(addresses)) { found, writer in
      writer.member("address", found.address)
      writer.member("connections", found.connections)
    }
  }

  func report(to metrics: PrometheusRegistry) {
    metrics.collect { [admission, ledger, caps] in
      let counts = ledger.counts
      return [
        PrometheusSample("connections_open", .gauge, Double(counts.open)),
        PrometheusSample("connections_refused_total", .counter, Double(counts.refused)),
        PrometheusSample("requests_running", .gauge, Double(admission.runningCount)),
        PrometheusSample("requests_bound", .gauge, Double(admission.currentBound)),
        PrometheusSample("requests_refused_total", .counter, Double(admission.refusedCount)),
        PrometheusSample("request_body_bytes", .gauge, Double(admission.bodyBytes)),
        PrometheusSample("request_body_bytes_bound", .gauge, Double(caps.bodyMemoryBytes)),
        PrometheusSample("answer_bytes", .gauge, Double(admission.answerBytes)),
        PrometheusSample("answer_bytes_bound", .gauge, Double(caps.answerMemoryBytes)),
      ]
    }
  }
}

/// Measures the server's overload: how much too late an idle task runs, and how long requests of accounts that are not
/// overdrawn wait for a seat or a thread.
struct AdmissionService: Service {
  let admission: Admission
  let seats: Seats

  func run() async throws {
    let interval = Duration.milliseconds(Admission.intervalMilliseconds)
    await cancelWhenGracefulShutdown {
      while true {
        let due = ContinuousClock.now + interval
        guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
        admission.note(lag: max(ContinuousClock.now - due, seats.lag))
      }
    }
  }
}
