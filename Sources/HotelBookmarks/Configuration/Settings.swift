package import Logging

/// How a server is to run.
package struct Settings: Sendable, Equatable {
  /// Which upstream answers searches.
  package enum Upstream: Sendable, Equatable {
    /// The catalogue in this process.
    case embedded
    /// A travel-sample back end at this base URL.
    case travelSample(String)
  }

  /// How log lines are written.
  package enum LogFormat: String, Sendable, CaseIterable {
    /// A line of words.
    case text
    /// A JSON object a line.
    case json
  }

  /// The address to listen at.
  package var hostname = "127.0.0.1"
  /// The TCP port; 0 for one that is free.
  package var port = 8080
  /// The data directory; made if absent, readable by its owner alone.
  package var data = "hotel-bookmarks-data"
  /// Which upstream answers searches.
  package var upstream = Upstream.embedded
  /// The URL that clients reach the server by, without a slash at its end; nil to take each request's own.
  package var publicURL: String?
  /// Origins whose pages may call with credentials.
  package var origins: [String] = []
  /// Guests that one address may make in an hour.
  package var guestsPerHour = 6_000
  /// Stores open at once at most; nil to go by the limit on file descriptors.
  package var openStores: Int?
  /// The least severe level that is logged.
  package var logLevel = Logger.Level.info
  /// How log lines are written.
  package var logFormat = LogFormat.text

  /// The defaults.
  package init() {}
}

/// A setting that can't be used; the reason names it and says what it may be.
package struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One line for the person who starts the server.
  package let description: String
}
