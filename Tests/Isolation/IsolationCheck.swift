import Glibc
import Lanes

/// Checks in an optimised build that an actor goes on with its own executor after it has awaited functions which are
/// `nonisolated(nonsending)`, as all asynchronous functions of this package are unless they say otherwise.
///
/// Swift 6.3.1 breaks this promise with `-O`: it removes the return to the caller's actor from the end of such a
/// function when it has made a specialised copy of it. The actor then goes on, beside its own jobs, on a thread of
/// Swift's pool: two threads used one SQLite connection, and the process ended. The manifest therefore switches off the
/// pass that does it. The tests of a debug build can't see it.
@main struct IsolationCheck {
  static func main() async throws {
    let pool = LanePool(name: "check")
    let lost = try await Caller(in: pool).run(Struct())
    await pool.stop()
    guard lost.isEmpty else {
      print("isolation is lost after: " + lost.joined(separator: ", "))
      exit(1)
    }
    print("isolation is kept")
  }
}

/// Awaits functions of each kind that the compiler specialises.
private actor Caller {
  private let executor: InlineExecutor
  private var lost: [String] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(in pool: LanePool) { executor = InlineExecutor(pool) }

  /// - Returns: after which functions the actor was on a wrong thread.
  func run(_ value: any Existential) async throws -> [String] {
    _ = await generic(1)
    check("a generic function")
    await elsewhere()
    await metatype(Int.self)
    check("a function of a type")
    await elsewhere()
    await calling { await elsewhere() }
    check("a closure that it calls")
    await elsewhere()
    _ = await using { $0 + 1 }
    check("a closure")
    await elsewhere()
    await ignoring(1)
    check("an argument that it ignores")
    await elsewhere()
    await Struct().part()
    check("a part of a structure")
    await elsewhere()
    await Struct.shared()
    check("a static function")
    await elsewhere()
    try await Struct().throwing()
    check("a function that throws")
    await elsewhere()
    try await Struct.resting(.microseconds(100))
    check("a static function with two ends")
    await elsewhere()
    await Instance().method()
    check("a method of a class")
    await elsewhere()
    await value.method()
    check("a method of a protocol")
    await elsewhere()
    await own()
    check("its own method")
    await elsewhere()
    return lost
  }

  /// Notes a function if this thread is not the actor's.
  private func check(_ name: String) {
    if executor.isIsolatingCurrentContext() != true { lost.append(name) }
  }

  @inline(never) private nonisolated func own() async { await elsewhere() }
}

@concurrent @inline(never) private func elsewhere() async { await Task.yield() }
@concurrent @inline(never) private func throwingElsewhere() async throws {
  try await Task.sleep(for: .microseconds(100))
}

@inline(never) private func generic<Value>(_ value: Value) async -> Value {
  await elsewhere()
  return value
}
@inline(never) private func metatype<Value>(_ type: Value.Type) async { await elsewhere() }
@inline(never) private func calling(_ body: () async -> Void) async { await body() }
@inline(never) private func using(_ body: (Int) -> Int) async -> Int {
  let value = body(1)
  await elsewhere()
  return value
}
@inline(never) private func ignoring(_ value: Int) async { await elsewhere() }

private protocol Existential: Sendable {
  func method() async
}

private struct Struct: Existential {
  let number = 1
  let text = "x"

  func method() async { await elsewhere() }
  @inline(never) func part() async {
    if number > 100 { print(text) }
    await elsewhere()
  }
  @inline(never) func throwing() async throws { try await throwingElsewhere() }
  @inline(never) static func shared() async { await elsewhere() }
  @inline(never) static func resting(_ pause: Duration) async throws {
    guard pause > .zero else { return await Task.yield() }
    guard (try? await Task.sleep(for: pause)) != nil else { throw CancellationError() }
  }
}

private final class Instance: Sendable {
  private let number = 1

  @inline(never) func method() async {
    if number > 100 { print(number) }
    await elsewhere()
  }
}
