/// Why a text can't be an upstream's URL. For the operator who configures it.
package struct UpstreamURLError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// What is wrong; closed.
  package enum Code: String, Sendable, CaseIterable {
    /// Neither `http://` nor `https://`.
    case badScheme
    /// A user name or password: credentials have a setting of their own.
    case hasUserInformation
    /// No host, or one with characters that no host has.
    case badHost
    /// A port outside 1 to 65535.
    case badPort
    /// A path with a dot segment, an empty segment, or a character that is or must be
    /// percent-encoded.
    case badPath
    /// A query or a fragment.
    case hasQueryOrFragment
  }

  /// What is wrong.
  package let code: Code

  /// An error.
  package init(_ code: Code) {
    self.code = code
  }

  /// A sentence for the operator; it never repeats the URL, which might hold a password.
  package var reason: String {
    switch code {
    case .badScheme: "An upstream's URL must start with http:// or https://"
    case .hasUserInformation: "An upstream's URL must not hold a user name or password"
    case .badHost: "An upstream's URL needs a host of letters, digits, dots and hyphens, or [IPv6]"
    case .badPort: "An upstream's port must be 1 to 65535"
    case .badPath: "An upstream's path must have no dot segments, no empty ones and no escapes"
    case .hasQueryOrFragment: "An upstream's URL must have no query and no fragment"
    }
  }

  /// The code and the sentence.
  package var debugDescription: String { "UpstreamURLError(\(code.rawValue): \(reason))" }
}
