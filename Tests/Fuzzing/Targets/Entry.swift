import Glibc

// Fuzzing                     prints the targets' names
// Fuzzing TARGET OPTION…      runs one target, with libFuzzer's options and corpora

/// The target that the command line names.
private let chosen = CommandLine.arguments.dropFirst().first.flatMap(FuzzTarget.init)

/// libFuzzer calls this once. It removes the target's name from libFuzzer's arguments.
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

/// libFuzzer calls this for each input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  chosen?.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}
