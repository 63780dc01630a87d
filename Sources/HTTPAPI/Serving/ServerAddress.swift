import Accounts
import Documents
import HTTPTypes
import Hummingbird

/// How clients reach this server: the URLs and the cookies that it gives them.
struct ServerAddress: Sendable {
  /// The URL by which clients reach this server, without a slash at the end; nil for the request's own.
  let publicURL: String?
  /// Whether clients reach this server over TLS without a proxy.
  let isSecure: Bool
  /// The clock.
  let now: @Sendable () -> Timestamp

  /// The URL for the client of a request, without a slash at the end. As in CouchDB it is the one by which the client
  /// has called a proxy, if that is trusted.
  func url(for call: Call) -> String {
    if let publicURL { return publicURL }
    let usesTLS = call.forwarded(.xForwardedProto).map { $0 == "https" } ?? isSecure
    let host = call.forwarded(.xForwardedHost) ?? call.request.head.authority ?? "localhost"
    return (usesTLS ? "https://" : "http://") + host
  }

  /// The URL of CouchDB's API for the client of a request, without a slash at the end. At a port of its own it is the
  /// port's.
  func couchURL(for call: Call) -> String {
    let isRoot = call.context.hasCouchAtRoot && publicURL == nil
    return url(for: call) + (isRoot ? "" : "/couch")
  }

  /// Whether clients use TLS, here or at a proxy.
  private var usesTLS: Bool { publicURL?.hasPrefix("https:") ?? isSecure }

  /// The fields of all answers. With TLS, a browser that was here once uses only TLS for a year (RFC 6797).
  var answerFields: HTTPFields {
    var fields: HTTPFields = [.xContentTypeOptions: "nosniff"]
    if usesTLS { fields[.strictTransportSecurity] = "max-age=31536000" }
    return fields
  }

  /// The session cookie, which a browser sends only to this site, and only over TLS if clients use TLS.
  func cookie(_ token: IssuedToken, named name: String = SentCredentials.cookieName) -> String {
    let seconds = max(0, token.expiresAt.seconds - now().seconds)
    let secure = usesTLS ? "; Secure" : ""
    return "\(name)=\(token.token.exposed); Path=/; Max-Age=\(seconds); "
      + "HttpOnly; SameSite=Strict" + secure
  }

  /// The fields that remove the cookies from a browser or an app, which else sends the ended one before a later one.
  static let cookieRemoval = HTTPFields(
    [SentCredentials.cookieName, SentCredentials.liteCookieName].map {
      HTTPField(name: .setCookie, value: "\($0)=; Path=/; Max-Age=0")
    })
}
