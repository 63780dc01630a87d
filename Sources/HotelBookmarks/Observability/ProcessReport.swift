import FoundationEssentials
import Glibc
import SQLiteEngine
import Scheduling
import Synchronization

/// The system's figures about this process, with the names of Prometheus' client libraries, and the version of the
/// program.
struct ProcessReport: Sendable {
  private let started = Date().timeIntervalSince1970

  func report(to metrics: PrometheusRegistry) { metrics.collect { samples } }

  private var samples: [PrometheusSample] {
    let build = PrometheusSample(
      "hotel_bookmarks_build_info", .gauge, labels: "version=\"\(Version.current)\"", 1)
    return [build, PrometheusSample("process_start_time_seconds", .gauge, started.rounded())]
      + descriptors + usage
  }

  private var descriptors: [PrometheusSample] {
    let most = PrometheusSample("process_max_fds", .gauge, Double(FileDescriptors.limit))
    guard let directory = opendir("/proc/self/fd") else { return [most] }
    defer { closedir(directory) }
    // `.`, `..` and the descriptor of this directory itself are not counted.
    var open = -3
    while readdir(directory) != nil { open += 1 }
    return [most, PrometheusSample("process_open_fds", .gauge, Double(max(0, open)))]
  }

  private var usage: [PrometheusSample] {
    let usage = ProcessUsage()
    guard usage.virtualBytes > 0 else { return [] }
    return [
      PrometheusSample("process_cpu_seconds_total", .counter, usage.processorSeconds),
      PrometheusSample("process_virtual_memory_bytes", .gauge, usage.virtualBytes),
      PrometheusSample("process_resident_memory_bytes", .gauge, usage.residentBytes),
    ]
  }
}

/// The process's use of resources; zeros if the system does not report it.
struct ProcessUsage: Sendable {
  /// Seconds of processors since the start.
  private(set) var processorSeconds = 0.0
  /// Bytes of address space.
  private(set) var virtualBytes = 0.0
  /// Bytes of memory in use.
  private(set) var residentBytes = 0.0

  /// The system's ticks per second and bytes per page, the units of `/proc/self/stat`.
  private static let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
  private static let page = Double(max(1, sysconf(Int32(_SC_PAGESIZE))))

  /// Reads the figures from the system.
  ///
  /// Source: proc(5), `/proc/pid/stat`: fields 14 and 15 are in ticks, 23 in bytes, 24 in pages. The second field, the
  /// command, may contain spaces, so the fields are counted from its end.
  init() {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return }
    let fields = stat[end...].split(separator: " ").dropFirst().compactMap { Double($0) ?? 0 }
    guard fields.count > 21 else { return }
    processorSeconds = (fields[11] + fields[12]) / Self.ticks
    virtualBytes = fields[20]
    residentBytes = fields[21] * Self.page
  }
}

/// The processor time of requests.
struct WorkReport: Sendable {
  private let seats: Seats
  private let slices = RecentMaximum()

  init(_ seats: Seats) { self.seats = seats }

  /// Adds the report to the metrics. The request that reads the metrics does not count as running.
  func report(to metrics: PrometheusRegistry) {
    metrics.collect { [seats, slices] in
      let counts = seats.counts
      let own = Work.current == nil ? 0 : 1
      let time = counts.nanoseconds
      return Work.Ending.allCases.map { reason in
        PrometheusSample(
          "work_ended_total", .counter, labels: "reason=\"\(reason)\"",
          Double(counts.endedCount(reason)))
      } + [
        PrometheusSample(
          "work_processor_seconds_total", .counter, labels: "account=\"paid\"",
          Double(time.paid) / 1e9),
        PrometheusSample(
          "work_processor_seconds_total", .counter, labels: "account=\"overdrawn\"",
          Double(time.overdrawn) / 1e9),
        PrometheusSample("work_running", .gauge, Double(max(0, counts.runningCount - own))),
        PrometheusSample("work_waiting", .gauge, Double(seats.waitingCount)),
        PrometheusSample(
          "work_served_before_overdrawn_total", .counter, Double(seats.servedBeforeOverdrawn)),
        PrometheusSample(
          "work_longest_slice_seconds", .gauge,
          Double(slices.adding(counts.takeLongestSlice())) / 1e9),
      ]
    }
  }
}

/// The greatest of the last values. The metrics are renewed each second and read seldom, and a reader has to learn of each
/// second since it read last.
final class RecentMaximum: Sendable {
  /// How many values count: those of a minute. Prometheus reads each minute at the latest by default.
  private static let count = 60

  private let values = Mutex<[Int64]>([])

  /// The greatest value, after another one is added.
  func adding(_ value: Int64) -> Int64 {
    values.withLock { values in
      values = values.suffix(Self.count - 1) + [value]
      return values.max() ?? 0
    }
  }
}

extension FileEngine {
  /// Adds the engine's counts and findings to the metrics.
  func report(to metrics: PrometheusRegistry) {
    metrics.collect {
      let statistics = self.statistics
      let failures = statistics.failures.map { code, count in
        PrometheusSample(
          "store_failures_total", .counter, labels: "kind=\"\(code)\"", Double(count))
      }
      let engine = PrometheusSample.engine(
        commits: statistics.commits, updates: statistics.updates, repaired: statistics.repaired,
        setAside: statistics.setAside, dropped: statistics.dropped)
      return failures + engine + [
        PrometheusSample("disk_free_bytes", .gauge, Double(self.freeBytes)),
        PrometheusSample("newcomers_taken", .gauge, self.hasSpaceForNewcomers ? 1 : 0),
        PrometheusSample("store_damage_left", .gauge, Double(statistics.left)),
        PrometheusSample("store_openings_total", .counter, Double(statistics.openings)),
        PrometheusSample("store_creations_total", .counter, Double(statistics.creations)),
      ]
    }
  }
}
