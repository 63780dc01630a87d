import Glibc
package import NIOSSL
import Synchronization

/// The server's certificate and key, from two PEM files. They are read again when the files have changed, so that a
/// renewed certificate needs no restart. Open connections keep the certificate that they began with.
package final class Certificates: Sendable {
  private struct State {
    var context: NIOSSLContext
    var stamps: [Stamp]
  }

  /// Tells whether a file has changed.
  private struct Stamp: Equatable {
    let modified: [Int]
    let size: Int
    let number: UInt

    /// All values are zero for a file that does not exist.
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
  /// - Parameter certificateFile: the certificate chain, the server's own certificate first.
  /// - Parameter keyFile: its private key.
  /// - Throws: an error of NIOSSL for files that can't be read or do not belong together.
  package init(certificateFile: String, keyFile: String) throws {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    state = Mutex(
      State(
        context: try Self.context(certificateFile, keyFile),
        stamps: [Stamp(certificateFile), Stamp(keyFile)]))
  }

  package var context: NIOSSLContext { state.withLock { $0.context } }

  /// Reads the files again if they have changed. If that fails, the present certificate stays in use.
  /// - Returns: whether there is a new certificate.
  /// - Throws: the errors of ``init(certificateFile:keyFile:)``, once for each change of the files.
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
