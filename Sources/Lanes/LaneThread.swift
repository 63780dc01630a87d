import CLanes

/// What the thread of a lane is made of.
enum LaneThread {
  /// Bytes of stack: the usual size of a main thread, on any libc and under any `ulimit`. It is
  /// address space, not memory, until it is used.
  static let stackSize = 8 << 20

  /// The body of the thread. `argument` is a retained ``Lane``.
  static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let lane = Unmanaged<Lane>.fromOpaque(argument).takeRetainedValue()
    clanes_name_thread(lane.name)
    lane.work(endsWhenIdle: false)
    return nil
  }
}
