import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct ContractTests {
  @Test func routesAndContractAgreeInBothDirections() async throws {
    let routes = try await APIFixture.service().routes.map {
      "\($0.method.rawValue) \($0.template)"
    }
    let documented = try Contract.shared.get().operations
    #expect(Set(routes).count == routes.count)
    #expect(Set(routes).subtracting(documented).sorted() == [], "not in openapi.yaml")
    #expect(documented.subtracting(routes).sorted() == [], "not in the service")
  }

  @Test func securityIsWhatTheRouteAsksFor() async throws {
    let contract = try Contract.shared.get()
    for route in try await APIFixture.service().routes {
      let name: Comment = "\(route.method.rawValue) \(route.template)"
      let operation = try #require(contract.operation(route.method, route.template), name)
      switch route.access {
      case .open, .controlSocket: #expect(operation["security"] == [[:]], name)
      case .anyone: #expect(operation["security"] == nil, name)
      case .person, .signedIn, .administrator:
        let alternatives = operation["security"]?.array ?? []
        #expect(!alternatives.isEmpty && !alternatives.contains([:]), name)
      }
    }
    let standard = contract.document["security"]?.array ?? []
    #expect(standard.contains([:]) && standard.count > 1)
  }

  @Test func operationNamesAreUnique() throws {
    let paths = try Contract.shared.get().document["paths"]?.object?.members ?? []
    let names = paths.flatMap { $0.value.object?.members ?? [] }
      .compactMap { $0.value["operationId"]?.string }
    #expect(Set(names).count == names.count)
    #expect(names.count == (try Contract.shared.get().operations.count))
  }

  /// A client in Go makes an `X` by a function `NewX`.
  @Test func noSchemaHasTheNameOfAnothersConstructor() throws {
    let schemas = try Contract.shared.get().document["components"]?["schemas"]?.object?.members
    let names = Set((schemas ?? []).map { $0.name })
    #expect(names.filter { names.contains("New" + $0) } == [])
  }

  @Test func everyReferenceLeadsSomewhere() throws {
    let contract = try Contract.shared.get()
    func references(in value: JSONValue) -> [JSONValue] {
      if value["$ref"] != nil { return [value] }
      if let array = value.array { return array.flatMap(references) }
      return value.object?.members.flatMap { references(in: $0.value) } ?? []
    }
    for reference in references(in: contract.document) {
      #expect(contract.resolve(reference)["$ref of nothing"] == nil, "\(reference)")
    }
  }

  @Test func examplesAreAsTheirSchemasSay() throws {
    let document = try Contract.shared.get().document
    let schemas = document["components"]?["schemas"]?.object?.members ?? []
    var count = 0
    for (name, schema) in schemas {
      for example in schema["examples"]?.array ?? [] {
        #expect(SchemaCheck(document).faults(example, schema, at: name) == [])
        count += 1
      }
    }
    #expect(count >= 10)
  }

  /// The token of a guest who became a user is answered 410 by every operation that takes a token.
  @Test func wherePeopleCallTheContractKnowsTheirRefusals() async throws {
    let contract = try Contract.shared.get()
    for route in try await APIFixture.service().routes
    where ![.open, .administrator, .controlSocket].contains(route.access) && route.dialect != .couch
    {
      let responses = contract.operation(route.method, route.template)?["responses"]
      for status in ["401", "410", "414", "429", "503"] {
        #expect(
          responses?[status] != nil, "\(route.method.rawValue) \(route.template) \(status)")
      }
    }
    for name in ["TooMany", "Unavailable", "CouchTooMany", "CouchUnavailable"] {
      let answer = contract.document["components"]?["responses"]?[name]
      #expect(answer?["headers"]?["Retry-After"] != nil, "\(name)")
    }
  }

  @Test func everyParameterOfTheServersOwnRoutesIsDescribed() async throws {
    let contract = try Contract.shared.get()
    for route in try await APIFixture.service().routes where route.template.hasPrefix("/v1/") {
      let parameters = contract.operation(route.method, route.template)?["parameters"]?.array ?? []
      for parameter in parameters.map(contract.resolve) where parameter["description"] == nil {
        Issue.record("\(route.method.rawValue) \(route.template) \(parameter["name"] ?? .null)")
      }
    }
  }
}
