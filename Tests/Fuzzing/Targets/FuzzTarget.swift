import Glibc

/// What is fuzzed: each target takes any bytes and claims what must hold of them.
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
  /// The bodies of CouchDB's verbs.
  case bodies
  /// gzip, both ways.
  case gzip
  /// Bearer tokens, Basic credentials, cookies, user names, addresses.
  case credentials
  /// What upstreams answer.
  case upstreams

  /// Claims what must hold of some bytes.
  func check(_ bytes: [UInt8]) {
    switch self {
    case .json: JSONFuzzing.check(bytes)
    case .revisions: RevisionFuzzing.check(bytes)
    case .paths: PathFuzzing.check(bytes)
    case .tokens: TokenFuzzing.check(bytes)
    case .selectors: SelectorFuzzing.check(bytes)
    case .bodies: BodyFuzzing.check(bytes)
    case .gzip: GzipFuzzing.check(bytes)
    case .credentials: CredentialFuzzing.check(bytes)
    case .upstreams: UpstreamFuzzing.check(bytes)
    }
  }
}

/// Ends the process, which libFuzzer takes for a finding, unless the claim holds.
func claim(_ holds: Bool, _ words: @autoclosure () -> String) {
  guard !holds else { return }
  let line = Array("claim broken: \(words())\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  abort()
}

/// The value of an expression that throws for some input; nil then.
func attempt<Value>(_ body: () throws -> Value) -> Value? {
  try? body()
}
