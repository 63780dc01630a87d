import FoundationEssentials
import Glibc
import HTTPAPI
import HTTPServer
import HummingbirdCore
import Lanes
import Logging
import ServiceLifecycle
import Stores
import UnixSignals

/// What connections are held to, and the certificate that they use.
struct ConnectionAssembly: Sendable {
  /// Descriptors that neither stores nor connections may use: logs, keys, upstreams, the catalogue.
  private static let spareDescriptors = 256
  /// Descriptors of an open store: its file, the log and one while it is opened.
  private static let descriptorsPerStore = 3
  /// Connections however few descriptors there are.
  private static let fewestConnections = 64

  let caps: ConnectionCaps
  let certificates: Certificates?
  let admission: Admission
  let crossOrigin: CrossOrigin
  private let ledger: ConnectionLedger
  private let proxies: TrustedProxies

  /// - Throws: ``CertificateFailure`` for a certificate that can't be used.
  init(_ settings: Settings) throws {
    var caps = ConnectionCaps()
    caps.total =
      settings.connections
      ?? Self.connections(descriptors: FileDescriptors.limit, openStores: settings.openStores)
    caps.perAddress = settings.connectionsPerAddress ?? caps.perAddress
    caps.countsLoopback = settings.connectionsPerAddress != nil
    caps.requestsAtOnce = settings.requestsAtOnce
    if let limit = ControlGroup.memoryLimit {
      caps.bodyMemoryBytes = ControlGroup.share(
        of: limit, least: RequestLimits.leastBodyMemoryBytes, most: caps.bodyMemoryBytes)
      caps.answerMemoryBytes = ControlGroup.share(
        of: limit, least: RequestLimits.leastAnswerMemoryBytes, most: caps.answerMemoryBytes)
    }
    self.caps = caps
    crossOrigin = CrossOrigin(origins: settings.origins)
    proxies = settings.trustedProxies
    admission = Admission(
      atOnce: caps.requestsAtOnce, memory: caps.bodyMemoryBytes,
      answerMemory: caps.answerMemoryBytes)
    ledger = ConnectionLedger(
      maximum: caps.total, maximumPerAddress: caps.perAddress,
      maximumLingering: Self.spare(descriptors: FileDescriptors.limit) / 8)
    if let certificate = settings.tlsCertificateFile, let key = settings.tlsKeyFile {
      do { certificates = try Certificates(certificateFile: certificate, keyFile: key) } catch {
        throw CertificateFailure(detail: "\(error)")
      }
    } else {
      certificates = nil
    }
  }

  /// The connections that the limit on descriptors leaves room for beside the stores.
  static func connections(descriptors: Int, openStores: Int?) -> Int {
    let stores =
      openStores
      ?? DatabaseManager.maximumOpen(
        descriptorLimit: descriptors, descriptorsPerStore: descriptorsPerStore)
    let free = descriptors - descriptorsPerStore * stores - spare(descriptors: descriptors)
    return min(RequestLimits.connections, max(fewestConnections, free))
  }

  private static func spare(descriptors: Int) -> Int { min(spareDescriptors, descriptors / 4) }

  /// The server's HTTP side.
  /// - Parameter answers: the service; over HTTP/2 Hummingbird asks it.
  func server(_ answers: any RequestAnswering) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
      let (proxies, countsLoopback) = (proxies, caps.countsLoopback)
      guard let certificates else {
        return CountedConnection(
          PlainConnection(answers: answers, admission: admission),
          ledger: ledger, isSecure: false, answers: answers
        ) { proxies.owner(of: $0, countsLoopback: countsLoopback) }
      }
      return CountedConnection(
        SecureConnection(
          answers: answers, responder: responder, certificates: certificates, admission: admission),
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

  /// Connections and requests, for the administrator.
  /// - Parameter addresses: how many addresses are told, at most.
  func traffic(addresses: Int) -> Administration.Traffic {
    var traffic = Administration.Traffic()
    let counts = ledger.counts
    traffic.connections = counts.open
    traffic.refusedConnections = counts.refused
    traffic.requests = admission.runningCount
    traffic.refusedRequests = admission.refusedCount
    traffic.addresses = ledger.busiest(addresses)
    return traffic
  }

  /// Shows how much there is to do.
  func report(to metrics: PrometheusRegistry) {
    metrics.collect { [admission, ledger, caps] in
      let counts = ledger.counts
      return [
        PrometheusSample("connections_open", .gauge, Double(counts.open)),
        PrometheusSample("connections_refused_total", .counter, Double(counts.refused)),
        PrometheusSample("requests_running", .gauge, Double(admission.runningCount)),
        PrometheusSample("requests_bound", .gauge, Double(admission.currentBound)),
        PrometheusSample("requests_refused_total", .counter, Double(admission.refusedCount)),
        PrometheusSample("request_body_bytes", .gauge, Double(admission.heldBytes)),
        PrometheusSample("request_body_bytes_bound", .gauge, Double(caps.bodyMemoryBytes)),
        PrometheusSample("answer_bytes", .gauge, Double(admission.answerBytes)),
        PrometheusSample("answer_bytes_bound", .gauge, Double(caps.answerMemoryBytes)),
      ]
    }
  }
}

/// A certificate or key that can't be used.
struct CertificateFailure: Error, CustomStringConvertible {
  /// What TLS said.
  let detail: String

  var description: String { "The certificate or its key can't be used (\(detail))" }
}

/// The process' limit on file descriptors.
enum FileDescriptors {
  /// How many there may be, after raising the soft limit to the hard one: stores and connections need them.
  static let limit: Int = {
    var limits = rlimit()
    guard getrlimit(__rlimit_resource_t(7), &limits) == 0 else { return 1_024 }
    if limits.rlim_cur < limits.rlim_max {
      var raised = limits
      raised.rlim_cur = min(limits.rlim_max, 65_536)
      if raised.rlim_cur > limits.rlim_cur, setrlimit(__rlimit_resource_t(7), &raised) == 0 {
        limits = raised
      }
    }
    return Int(clamping: limits.rlim_cur)
  }()
}

/// Measures how far behind the server is: how much later than it wished a task runs that has nothing to do, and how
/// long requests wait for a thread that have not overdrawn.
struct AdmissionService: Service {
  let admission: Admission
  let pool: LanePool

  func run() async throws {
    let interval = Duration.milliseconds(Admission.intervalMilliseconds)
    await cancelWhenGracefulShutdown {
      while true {
        let due = ContinuousClock.now + interval
        guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
        admission.note(lag: max(ContinuousClock.now - due, pool.lag))
      }
    }
  }
}

/// Takes a renewed certificate: within ten seconds, and at once after SIGHUP.
struct CertificateService: Service {
  /// How often the files are looked at: 10 seconds.
  private static let interval = Duration.seconds(10)

  let certificates: Certificates
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while (try? await Task.sleep(for: Self.interval)) != nil { reload() }
        }
        group.addTask {
          for await _ in await UnixSignalsSequence(trapping: .sighup) { reload() }
        }
      }
    }
  }

  private func reload() {
    do {
      if try certificates.reload() { logger.info("there is another certificate") }
    } catch {
      logger.error(
        "the certificate can't be read again",
        metadata: ["detail": "\(StartFailure.line(error))"])
    }
  }
}

/// The control group that the process is in, as far as it says how much memory there is.
///
/// Source: cgroups(7); the kernel's "Control Group v2", `memory.max`, and v1's `memory.limit_in_bytes`.
enum ControlGroup {
  /// The part of the limit that one kind of memory may take: an eighth.
  private static let part = 8

  /// Bytes that this process may take; nil without a limit.
  static var memoryLimit: Int? {
    memoryLimit(groups: text("/proc/self/cgroup") ?? "", read: text)
  }

  /// The least limit of the groups that a process is in and of those around them.
  /// - Parameter groups: what `/proc/self/cgroup` says: lines of `number:controllers:path`.
  /// - Parameter read: gives a file's text; nil for one that can't be read.
  static func memoryLimit(groups: String, read: (String) -> String?) -> Int? {
    var limits: [Int] = []
    for line in groups.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let root: String
      let file: String
      if parts[1].isEmpty {
        (root, file) = ("/sys/fs/cgroup", "memory.max")
      } else if parts[1].split(separator: ",").contains("memory") {
        (root, file) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
      } else {
        continue
      }
      // A container sees its own group as the root, whatever the path says.
      var path = parts[2].split(separator: "/")
      while true {
        let directory = path.isEmpty ? root : root + "/" + path.joined(separator: "/")
        if let limit = read(directory + "/" + file).flatMap({ number($0) }) { limits.append(limit) }
        guard !path.isEmpty else { break }
        path.removeLast()
      }
    }
    return limits.min()
  }

  /// What one kind of memory may take of a limit.
  static func share(of limit: Int, least: Int, most: Int) -> Int {
    min(most, max(least, limit / part))
  }

  /// Nil for `max`. Version 1 says "no limit" by a number that no machine has, which bounds nothing.
  private static func number(_ text: String) -> Int? {
    text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }.flatMap {
      $0 > 0 ? $0 : nil
    }
  }

  private static func text(_ path: String) -> String? {
    try? String(contentsOfFile: path, encoding: .utf8)
  }
}
