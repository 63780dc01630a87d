import Glibc

/// The process' limit on file descriptors.
enum FileDescriptors {
  /// The limit, after the soft limit is raised to the hard one, but at most to 65,536. Stores and connections need
  /// descriptors.
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
