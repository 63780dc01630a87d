import CFuzzer
import Glibc

// SwiftPM's executables have their own `main`, which is linked before libFuzzer's.
var (count, arguments) = (CommandLine.argc, CommandLine.unsafeArgv)
exit(LLVMFuzzerRunDriver(&count, &arguments) { testOneInput($0, $1) })
