import Crypto
package import Documents
package import Stores

/// Encrypts the credentials in the ends of a replicator's document, so that no store, backup, answer or copy has them as
/// plain text.
///
/// An end with credentials becomes `{"url": "…", "sealed": "…"}`: the URL without user and password, and in Base64 what
/// AES-GCM with 256 bits (NIST SP 800-38D) makes of the members `auth` and `headers` and of the URL's user and password.
/// The URL is authenticated with them, so a sealed text is of no use for another URL.
package struct CredentialSeal: Sendable {
  /// The members of a document that are ends.
  private static let ends = ["source", "target"]
  /// The members that may contain credentials and whose replications are not offered.
  private static let proxies = ["proxy", "source_proxy", "target_proxy"]
  /// The members of an end that are encrypted as a whole.
  private static let secretMembers = ["auth", "headers"]
  private static let sealedMember = "sealed"
  private static let userMember = "userinfo"

  private let key: @Sendable () async throws -> [UInt8]

  /// - Parameter key: reads the key, 32 bytes, which stays the same as long as the server's data exist.
  package init(key: @escaping @Sendable () async throws -> [UInt8]) { self.key = key }

  /// Encrypts the credentials in a document.
  /// - Returns: the document without credentials; itself if it has none.
  /// - Throws: 403 for credentials of a form that can't be told apart; the errors of the key.
  package func sealed(_ document: JSONNode) async throws -> JSONNode {
    guard Self.hasCredentials(document) else { return document }
    let key = SymmetricKey(data: try await key())
    return try Self.changed(document) { _, end in
      guard let parts = Parts(end) else { return end }
      if parts.hasOddCredentials { throw Self.refusal }
      guard !parts.secrets.isEmpty else { return end }
      let box = try AES.GCM.seal(
        JSONValue.object(parts.secrets).bytes, using: key, authenticating: Array(parts.url.utf8))
      var members = parts.rest
      let bytes = Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
      members.append(Self.sealedMember, .string(Base64.string(bytes)))
      return .object(members)
    }
  }

  /// Decrypts the credentials in a document.
  /// - Throws: 400 for what was not encrypted with this key for this URL; the errors of the key.
  package func opened(_ document: JSONNode) async throws -> JSONNode {
    guard Self.ends.contains(where: { document[$0]?[Self.sealedMember] != nil }) else {
      return document
    }
    let key = SymmetricKey(data: try await key())
    return try Self.changed(document) { name, end in
      guard let object = end.object, let text = object[Self.sealedMember] else { return end }
      let url = object["url"]?.string ?? ""
      guard let bytes = Base64.bytes(Array((text.string ?? "").utf8)),
        let box = try? AES.GCM.SealedBox(combined: bytes),
        let plain = try? AES.GCM.open(box, using: key, authenticating: Array(url.utf8)),
        let secrets = try? JSONValue(parsing: Array(plain), limits: .document).object
      else {
        throw ServiceError.badRequest(
          "The credentials of `\(name)` are of another URL or another server; send them again")
      }
      return .object(Parts.whole(object, secrets))
    }
  }

  /// Whether a document has credentials as plain text. An end of an unexpected form has some if it may.
  package static func hasCredentials(_ document: JSONNode) -> Bool {
    let proxies = proxies.compactMap { document[$0]?.string }
    return proxies.contains { $0.utf8.contains(UInt8(ascii: "@")) }
      || ends.contains { name in
        guard let parts = document[name].flatMap({ Parts($0.value) }) else { return false }
        return !parts.secrets.isEmpty || parts.hasOddCredentials
      }
  }

  /// The answer to credentials in a place where they can't be encrypted.
  package static let refusal = ServiceError(
    .forbidden,
    "Credentials are stored only encrypted: name them in `auth`, `headers` or the URL of `source` and `target`"
  )

  private static func changed(
    _ document: JSONNode, _ change: (String, JSONValue) throws -> JSONValue
  ) throws -> JSONNode {
    if proxies.contains(where: { document[$0]?.string?.contains("@") ?? false }) { throw refusal }
    let members = try document.members.map { member in
      let value = member.value.value
      return (member.name, ends.contains(member.name) ? try change(member.name, value) : value)
    }
    return try ParsedJSON(JSONValue.object(JSONObject(members)).bytes, limits: .stored).root
  }

  /// An end, divided into what may be shown and what not.
  private struct Parts {
    /// The URL without user and password.
    let url: String
    var secrets = JSONObject()
    /// The end without ``secrets``.
    var rest = JSONObject()
    /// Whether there may be credentials elsewhere.
    var hasOddCredentials = false

    /// Divides an end; nil for one that is neither a text nor an object.
    init?(_ end: JSONValue) {
      let object = end.object ?? ["url": end]
      guard end.string != nil || end.object != nil else { return nil }
      let text = object["url"]?.string ?? ""
      let (bare, user) = Self.divide(text)
      url = bare
      hasOddCredentials = user == nil && !text.contains("://") && text.contains("@")
      for (name, value) in object.members {
        if name == "url" {
          rest.append(name, object["url"]?.string == nil ? value : .string(bare))
        } else if CredentialSeal.secretMembers.contains(name), value != .null,
          value.object?.isEmpty != true
        {
          secrets.append(name, value)
        } else {
          rest.append(name, value)
        }
      }
      if let user { secrets.append(CredentialSeal.userMember, .string(user)) }
      // What was sealed before is replaced, not added to.
      if !secrets.isEmpty {
        rest = JSONObject(
          rest.members.filter { $0.name != CredentialSeal.sealedMember }.map { ($0.name, $0.value) }
        )
      }
    }

    /// The end with its secrets.
    static func whole(_ object: JSONObject, _ secrets: JSONObject) -> JSONObject {
      var whole = JSONObject()
      for (name, value) in object.members where name != CredentialSeal.sealedMember {
        guard name == "url", let url = value.string, let mark = url.firstRange(of: "://"),
          let user = secrets[CredentialSeal.userMember]?.string
        else {
          whole.append(name, value)
          continue
        }
        whole.append(name, .string(url[..<mark.upperBound] + user + "@" + url[mark.upperBound...]))
      }
      for (name, value) in secrets.members where name != CredentialSeal.userMember {
        whole.append(name, value)
      }
      return whole
    }

    /// Divides a URL at the `@` of its authority (RFC 3986, section 3.2).
    private static func divide(_ text: String) -> (bare: String, user: String?) {
      guard let mark = text.firstRange(of: "://") else { return (text, nil) }
      let rest = text[mark.upperBound...]
      let authority = rest.prefix { !"/?#".contains($0) }
      guard let at = authority.lastIndex(of: "@") else { return (text, nil) }
      return (
        String(text[..<mark.upperBound] + rest[authority.index(after: at)...]),
        String(authority[..<at])
      )
    }
  }
}
