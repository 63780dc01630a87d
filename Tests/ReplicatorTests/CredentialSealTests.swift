import Documents
import Stores
import Testing

@testable import Replicator

/// The credentials in documents that describe replications.
struct CredentialSealTests {
  private static let seal = CredentialSeal { [UInt8](repeating: 7, count: 32) }

  private static func node(_ text: String) throws -> JSONNode {
    try ParsedJSON(Array(text.utf8), limits: .document).root
  }

  private static func text(_ node: JSONNode) -> String {
    String(decoding: node.minified, as: UTF8.self)
  }

  @Test(arguments: [
    #""https://ann:s3cr%40t@host/db""#, #"{"url":"https://host/db","auth":{"basic":"s3cr%40t"}}"#,
    #"{"url":"https://host/db","headers":{"Authorization":"s3cr%40t"},"other":1}"#,
    #"{"url":"https://ann:s3cr%40t@host/db","auth":{"n":1.50}}"#,
  ])
  func theyAreHiddenAndComeBack(end: String) async throws {
    let document = try Self.node("{\"n\":1.0,\"source\":\(end),\"target\":\"plans\"}")
    #expect(CredentialSeal.hasCredentials(document))
    let sealed = try await Self.seal.sealed(document)
    #expect(!CredentialSeal.hasCredentials(sealed))
    #expect(!Self.text(sealed).contains("s3cr") && !Self.text(sealed).contains("ann"))
    #expect(sealed["source"]?["url"]?.string == "https://host/db")
    #expect(Self.text(sealed).hasPrefix(#"{"n":1.0,"source":{"url""#))
    let again = try await Self.seal.sealed(sealed)
    #expect(Self.text(again) == Self.text(sealed))
    let opened = try await Self.seal.opened(sealed)
    let wanted = try ReplicationEndpointParts(document["source"])
    #expect(try ReplicationEndpointParts(opened["source"]) == wanted)
  }

  /// What of an end matters, whatever its form.
  private struct ReplicationEndpointParts: Equatable {
    let url: String?
    let others: JSONObject

    init(_ node: JSONNode?) throws {
      let object = node?.value.object ?? [:]
      url = node?.string ?? node?["url"]?.string
      others = JSONObject(object.members.filter { $0.name != "url" }.map { ($0.name, $0.value) })
    }

    static func == (one: Self, other: Self) -> Bool {
      one.url == other.url
        && one.others.members.allSatisfy { other.others[$0.name] == $0.value }
        && one.others.count == other.others.count
    }
  }

  @Test(arguments: [
    #""plans""#, #""http://host/a@b""#, #"{"url":"http://host/db","headers":null}"#,
    #"{"url":"http://host/db","auth":{},"headers":{}}"#, "7", "null",
    #""http://host/?q=a@b""#,
  ])
  func documentWithoutAnyStaysAsItIs(end: String) async throws {
    let document = try Self.node("{\"source\": \(end)}")
    #expect(!CredentialSeal.hasCredentials(document))
    #expect(try await Self.text(Self.seal.sealed(document)) == Self.text(document))
    #expect(try await Self.text(Self.seal.opened(document)) == Self.text(document))
  }

  @Test(arguments: [
    #"{"source":"ann:s3cret@host/db"}"#, #"{"source":{"url":"ann:s3cret@host"}}"#,
    #"{"source":"a","source_proxy":"http://ann:s3cret@proxy"}"#,
  ])
  func credentialsInOtherPlacesAreRefused(text: String) async throws {
    let document = try Self.node(text)
    #expect(CredentialSeal.hasCredentials(document))
    let error = await #expect(throws: ServiceError.self) {
      _ = try await Self.seal.sealed(document)
    }
    #expect(error?.code == .forbidden)
  }

  @Test func theyAreOfNoUseForAnotherURLOrAnotherKey() async throws {
    let document = try Self.node(#"{"target":"http://ann:s3cret@host/db"}"#)
    let sealed = try await Self.text(Self.seal.sealed(document))
    let moved = try Self.node(sealed.replacing("//host", with: "//other"))
    let other = CredentialSeal { [UInt8](repeating: 8, count: 32) }
    for (seal, document) in [(Self.seal, moved), (other, try Self.node(sealed))] {
      let error = await #expect(throws: ServiceError.self) { _ = try await seal.opened(document) }
      #expect(error?.code == .badRequest)
    }
    let invented = try Self.node(#"{"target":{"url":"http://host/db","sealed":"AAAA"}}"#)
    await #expect(throws: ServiceError.self) { _ = try await Self.seal.opened(invented) }
  }
}
