import Glibc

/// The fuzz targets: each takes any bytes and claims what must hold for them.
enum FuzzTarget: String, CaseIterable {
  /// The JSON parser, its outputs and the splicing of bodies.
  case json
  /// Revision ids, revision trees and documents as peers send them.
  case revisions
  /// Request targets and queries.
  case paths
  /// `since` tokens, cursors, find bookmarks, names.
  case tokens
  /// Selectors, their bounds, and the order of values.
  case selectors
  /// The bodies of CouchDB's requests.
  case bodies
  /// gzip, both packing and unpacking.
  case gzip
  /// The frames and messages of Couchbase Lite's transport.
  case blip
  /// What is removed from photos.
  case photos
  /// Bearer tokens, Basic credentials, cookies, user names, addresses.
  case credentials
  /// Responses of upstreams.
  case upstreams

  /// Checks what must hold for some bytes.
  func check(_ bytes: [UInt8]) {
    switch self {
    case .json: JSONFuzzing.check(bytes)
    case .revisions: RevisionFuzzing.check(bytes)
    case .paths: PathFuzzing.check(bytes)
    case .tokens: TokenFuzzing.check(bytes)
    case .selectors: SelectorFuzzing.check(bytes)
    case .bodies: BodyFuzzing.check(bytes)
    case .gzip: GzipFuzzing.check(bytes)
    case .blip: BLIPFuzzing.check(bytes)
    case .photos: PhotoFuzzing.check(bytes)
    case .credentials: CredentialFuzzing.check(bytes)
    case .upstreams: UpstreamFuzzing.check(bytes)
    }
  }
}

/// Ends the process unless the claim holds. libFuzzer reports this as a finding.
func claim(_ holds: Bool, _ words: @autoclosure () -> String) {
  guard !holds else { return }
  let line = Array("claim broken: \(words())\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  abort()
}

/// The value of an expression; nil if it throws.
func attempt<Value>(_ body: () throws -> Value) -> Value? {
  try? body()
}
