import CFuzzer
import Glibc

// SwiftPM's executables have a `main` of their own, before libFuzzer's.
var (count, arguments) = (CommandLine.argc, CommandLine.unsafeArgv)
exit(LLVMFuzzerRunDriver(&count, &arguments) { testOneInput($0, $1) })
