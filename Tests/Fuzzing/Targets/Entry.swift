import Glibc

// Fuzzing                     the targets' names
// Fuzzing TARGET OPTION…      one target, with libFuzzer's options and corpora

/// The target that the command line names.
private let chosen = CommandLine.arguments.dropFirst().first.flatMap(FuzzTarget.init)

/// Called once by libFuzzer, which is to see no target's name among its arguments.
@_cdecl("LLVMFuzzerInitialize")
func initialize(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
  guard chosen != nil else {
    for target in FuzzTarget.allCases { print(target) }
    exit(count.pointee > 1 ? EX_USAGE : EXIT_SUCCESS)
  }
  arguments.pointee[1] = arguments.pointee[0]
  arguments.pointee += 1
  count.pointee -= 1
  return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  chosen?.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}
