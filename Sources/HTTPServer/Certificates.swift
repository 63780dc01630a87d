import Glibc
package import NIOSSL
import Synchronization

/// The server's certificate and key, read from two PEM files and read again when these have changed: a renewed
/// certificate is taken without a restart. Connections that are open keep theirs.
package final class Certificates: Sendable {
  private struct State {
    var context: NIOSSLContext
    var stamps: [Stamp]
  }

  /// What tells two states of a file apart.
  private struct Stamp: Equatable {
    let modified: [Int]
    let size: Int
    let number: UInt

    /// All zero for a file that is not there.
    init(_ path: String) {
      var found = stat()
      if stat(path, &found) != 0 { found = stat() }
      modified = [found.st_mtim.tv_sec, found.st_mtim.tv_nsec]
      size = found.st_size
      number = found.st_ino
    }
  }

  private let certificateFile: String
  private let keyFile: String
  private let state: Mutex<State>

  /// Reads both files.
  /// - Parameter certificateFile: the chain, the server's own certificate first.
  /// - Parameter keyFile: its private key.
  /// - Throws: what NIOSSL throws for files that can't be read or do not belong together.
  package init(certificateFile: String, keyFile: String) throws {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    state = Mutex(
      State(
        context: try Self.context(certificateFile, keyFile),
        stamps: [Stamp(certificateFile), Stamp(keyFile)]))
  }

  /// What a new connection uses.
  package var context: NIOSSLContext { state.withLock { $0.context } }

  /// Reads the files again if they have changed. What was read before stays in use if that fails.
  /// - Returns: whether there is another certificate now.
  /// - Throws: as ``init(certificateFile:keyFile:)``, once for each change.
  package func reload() throws -> Bool {
    let stamps = [Stamp(certificateFile), Stamp(keyFile)]
    let isNew = state.withLock { state in
      defer { state.stamps = stamps }
      return state.stamps != stamps
    }
    guard isNew else { return false }
    let context = try Self.context(certificateFile, keyFile)
    state.withLock { $0.context = context }
    return true
  }

  private static func context(_ certificateFile: String, _ keyFile: String) throws -> NIOSSLContext
  {
    let chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem)))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2", "http/1.1"]
    return try NIOSSLContext(configuration: configuration)
  }
}
