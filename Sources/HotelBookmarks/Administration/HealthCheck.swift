import AsyncHTTPClient
import Documents
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SQLiteEngine

/// Asks a server whether it is ready.
package enum HealthCheck {
  /// The URL for asking a server with these settings from this machine: at its operators' port if it has one.
  /// - Throws: ``SettingsError`` for port 0, because only the server knows its real port.
  package static func url(of settings: Settings) throws(SettingsError) -> String {
    let port = settings.operationsPort ?? settings.port
    guard port != 0 else {
      throw SettingsError("port: 0 means that only the server knows its port; give --url")
    }
    let isSecure = settings.operationsPort == nil && settings.tlsCertificateFile != nil
    // If the server listens at all addresses, the loopback address is asked.
    let host =
      switch settings.hostname {
      case "", "0.0.0.0", "localhost": "127.0.0.1"
      case "::": "[::1]"
      case let name where name.contains(":"): "[\(name)]"
      case let name: name
      }
    return "\(isSecure ? "https" : "http")://\(host):\(port)"
  }

  /// Why `/readyz` does not answer 200 within two seconds, in one line; nil if it does.
  /// - Parameter isOwn: whether the URL comes from the server's own settings. Then any certificate is accepted, because
  ///   the request contains no secret.
  package static func failure(of url: String, isOwn: Bool) async -> String? {
    var configuration = HTTPClient.Configuration()
    if isOwn {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.certificateVerification = .none
      configuration.tlsConfiguration = tls
    }
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let request = HTTPClientRequest(url: url + "/readyz")
    let failure: String?
    do {
      let answer = try await client.execute(request, timeout: .seconds(2))
      failure = answer.status == .ok ? nil : try await reason(in: answer)
    } catch { failure = "does not answer: \(words(for: error))" }
    // It throws only if the client is already shut down.
    try? await client.shutdown()
    return failure.map { StartFailure.line(BackupError(.failed, "\(url) \($0)")) }
  }

  /// Why there is no answer, for an operator.
  private static func words(for error: any Error) -> String {
    if let error = error as? NIOConnectionError, let first = error.connectionErrors.first {
      return words(for: first.error)
    }
    return switch error {
    case let error as IOError where error.errnoCode == ECONNREFUSED: "nothing listens there"
    case is NIOConnectionError: "there is no address of this name"
    case is NIOSSLError, is NIOSSLExtraError:
      "it speaks no TLS, or has a certificate that this machine does not trust"
    case let error as HTTPClientError where error == .remoteConnectionClosed:
      "it closed the connection, as a server with TLS does without https"
    case let error as HTTPClientError
    where error == .connectTimeout || error == .deadlineExceeded:
      "it took more than two seconds"
    default: "\(error)"
    }
  }

  /// What an answer says of the stores, or else its text.
  private static func reason(in answer: HTTPClientResponse) async throws -> String {
    let bytes = Array((try await answer.body.collect(upTo: mostBytes)).readableBytesView)
    let health = try? ParsedJSON(bytes, limits: .small).root
    let why = health?["stores"]?.string ?? String(decoding: bytes, as: UTF8.self)
    return "answers \(answer.status.code): \(why)"
  }

  /// The bytes of an answer that are read at most.
  private static let mostBytes = 65_536
}
