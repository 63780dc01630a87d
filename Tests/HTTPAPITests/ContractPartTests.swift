import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct ContractPartTests {
  private static let tags: Set<String> = [
    "accounts", "hotels", "bookmarks", "history", "lists", "sync",
  ]

  /// The part of the file in this repository.
  private static func part() throws -> Contract {
    let bytes = ContractPart.ofApps(Array(try Contract.text().utf8))
    return try Contract(text: String(decoding: bytes, as: UTF8.self))
  }

  /// Names and definitions of the components of one kind.
  private static func components(_ contract: Contract) -> [String: JSONValue] {
    var found: [String: JSONValue] = [:]
    for (kind, members) in contract.document["components"]?.object?.members ?? [] {
      for (name, value) in members.object?.members ?? [] { found["\(kind)/\(name)"] = value }
    }
    return found
  }

  private static func references(in value: JSONValue) -> Set<String> {
    if let reference = value["$ref"]?.string {
      return [String(reference.dropFirst("#/components/".count))]
    }
    let inner = value.array ?? value.object?.members.map(\.value) ?? []
    return inner.reduce(into: []) { $0.formUnion(references(in: $1)) }
  }

  @Test func partHasTheOperationsOfAppsAsTheWholeHasThem() throws {
    let whole = try Contract.shared.get()
    let part = try Self.part()
    var operations = 0
    for (path, item) in whole.document["paths"]?.object?.members ?? [] {
      for (method, operation) in item.object?.members ?? [] where method != "parameters" {
        let isOfApps = !Self.tags.isDisjoint(
          with: operation["tags"]?.array?.compactMap(\.string) ?? [])
        operations += isOfApps ? 1 : 0
        let found = part.document["paths"]?[path]
        #expect(found?[method] == (isOfApps ? operation : JSONValue?.none), "\(method) \(path)")
        if isOfApps { #expect(found?["parameters"] == item["parameters"], "\(path)") }
      }
    }
    #expect(operations == part.operations.count && operations > 50)
    #expect(
      part.document["tags"]?.array?.compactMap { $0["name"]?.string }.count == Self.tags.count)
    #expect(part.document["info"] == whole.document["info"])
  }

  @Test func partHasTheComponentsThatItUsesAndNoOthers() throws {
    let whole = Self.components(try Contract.shared.get())
    let part = try Self.part()
    let found = Self.components(part)
    for (name, component) in found { #expect(whole[name] == component, "\(name)") }
    var used = Self.references(in: part.document["paths"] ?? [:])
    while true {
      let more = used.union(used.flatMap { Self.references(in: found[$0] ?? [:]) })
      guard more != used else { break }
      used = more
    }
    #expect(Set(found.keys).subtracting(used).filter { !$0.hasPrefix("securitySchemes/") } == [])
    #expect(used.subtracting(found.keys) == [])
    #expect(found["schemas/Hotel"] != nil && found["schemas/AdminJob"] == nil)
    #expect(found["schemas/CouchChanges"] == nil && found["responses/TravelRows"] == nil)
  }

  @Test func contractIsServedWholeAndInPart() async throws {
    try await APIFixture.open { api in
      let whole = try await api.call(.get, "/openapi.yaml")
      #expect(whole.text == APIFixture.contract)
      let part = try await api.call(.get, "/openapi.yaml?part=app")
      #expect(
        part.text
          == APIFixture.contract.replacing("  /b:\n    get:\n      tags: [couch]\n", with: "")
          .replacing("  - {name: couch}\n", with: ""))
      #expect(part.mediaType == "application/yaml")
      #expect(try await api.call(.get, "/openapi.yaml?part=couch").error == "invalid_parameter")
      #expect(try await api.call(.get, "/openapi.yaml?parts=app").error == "unknown_parameter")
    }
  }
}
