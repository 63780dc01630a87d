import Foundation
import NIOConcurrencyHelpers
import TestSupport

/// A PostgreSQL server for tests. Its data and its socket are in a temporary directory.
///
/// A shell runs the server. When this process ends, for whatever reason, the shell stops the server and removes the
/// directory.
final class PostgresServer: Sendable {
  /// The server that tests share; nil if the environment names another database.
  static let shared = Result {
    ProcessInfo.processInfo.environment[variable] == nil ? try PostgresServer() : nil
  }

  /// The environment variable with the URL of another database to test with.
  static let variable = "HOTEL_BOOKMARKS_TEST_DATABASE"

  /// The URL of the database that tests share.
  static var sharedURL: String {
    get throws {
      if let server = try shared.get() { return server.url }
      return ProcessInfo.processInfo.environment[variable] ?? ""
    }
  }

  /// The URL of the server's database.
  let url: String
  private let standardInput: FileHandle
  private let standardOutput: FileHandle

  /// The shell's script. The server runs without fsync, because its data need not survive a power cut.
  private static let script = """
    set -e
    bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
    directory=$(mktemp -d /tmp/bookmarks-postgres.XXXXXX)
    trap 'rm -rf "$directory"' EXIT
    "$bin/initdb" -D "$directory/data" -A trust -N -E UTF8 --locale=C.UTF-8 -U postgres \
      >"$directory/log" 2>&1
    start() {
      "$bin/postgres" -D "$directory/data" -k "$directory" -c listen_addresses= -c fsync=off \
        -c max_connections=600 -c shared_buffers=64MB -c max_wal_size=4GB \
        >>"$directory/log" 2>&1 &
      server=$!
      until "$bin/pg_isready" -q -h "$directory"; do kill -0 $server; sleep 0.05; done
    }
    stop() {
      kill -INT $server
      wait $server || true
    }
    start
    echo "$directory"
    while read order; do
      stop
      if [ "$order" = keep ]; then
        cp -r "$directory/data" "$directory/kept"
        start
      else
        rm -rf "$directory/data"
        mv "$directory/kept" "$directory/data"
        touch "$directory/data/standby.signal"
        start
        "$bin/pg_ctl" promote -D "$directory/data" >>"$directory/log" 2>&1
      fi
      echo done
    done
    stop
    """

  /// Starts a server.
  init() throws {
    let process = Process()
    // PostgreSQL refuses to run as root; its Debian package creates a user for it.
    let isRoot = getuid() == 0
    process.executableURL = URL(filePath: isRoot ? "/usr/sbin/runuser" : "/bin/sh")
    let shell = ["-c", Self.script]
    process.arguments = isRoot ? ["-u", "postgres", "--", "/bin/sh"] + shell : shell
    process.currentDirectoryURL = URL(filePath: "/tmp")
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    standardInput = input.fileHandleForWriting
    standardOutput = output.fileHandleForReading
    let directory = try Self.line(from: standardOutput)
    url = "postgres://postgres@/postgres?host=" + directory
  }

  /// Restarts the server and keeps a copy of its state, as a standby that hears nothing of what comes later.
  func keepCopy() throws { try order("keep") }

  /// Replaces the server by the copy, as a standby that becomes the primary: on a higher timeline, without what came
  /// after the copy.
  func promoteCopy() throws { try order("promote") }

  private func order(_ word: String) throws {
    try standardInput.write(contentsOf: Array((word + "\n").utf8))
    _ = try Self.line(from: standardOutput)
  }

  private static func line(from output: FileHandle) throws -> String {
    var line: [UInt8] = []
    while let byte = try output.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
      line.append(byte)
    }
    guard !line.isEmpty else { throw CocoaError(.executableLoad) }
    return String(decoding: line, as: UTF8.self)
  }

  deinit { try? standardInput.close() }
}
