import HTTPTypes
import Hummingbird
import Testing

@testable import HTTPAPI

@Suite struct RouteTableTests {
  private static let table = RouteTable([
    route(.get, "/"), route(.get, "/couch/{db}"), route(.put, "/couch/{db}"),
    route(.get, "/couch/{db}/_changes"), route(.get, "/couch/{db}/{docid}"),
    route(.get, "/couch/{db}/_design/{design}"), route(.get, "/couch/{db}/{docid}/{attachment}"),
  ])

  private static func route(_ method: HTTPRequest.Method, _ template: String) -> Route {
    Route(method, template, access: .open) { _, _ in Response(status: .ok) }
  }

  @Test(arguments: [
    ("/", "/"), ("/couch/a", "/couch/{db}"), ("/couch/a/", "/couch/{db}"),
    ("/couch/a/_changes?since=/b", "/couch/{db}/_changes"),
    ("/couch/a/_changesx", "/couch/{db}/{docid}"), ("/couch/_changes/b", "/couch/{db}/{docid}"),
    ("/couch/a/_design/b", "/couch/{db}/_design/{design}"),
    ("/couch/a/b/c", "/couch/{db}/{docid}/{attachment}"),
  ])
  func literalGoesBeforeAParameter(target: String, template: String) throws {
    let entry = try #require(Self.table.find(target)?.entry(for: .get))
    #expect(entry.route.template == template)
  }

  @Test(arguments: [
    "/couch", "/couch/a/_design", "/couch/a/_changes/b", "/couch/a/b/c/d", "/x", "",
  ])
  func thereIsNoComingBackFromALiteral(target: String) {
    // The router treats the empty target as the root. A request's target is never empty.
    #expect((Self.table.find(target)?.entry(for: .get) == nil) == !target.isEmpty)
  }

  @Test func argumentsAreAsTheyWereSent() throws {
    let match = try #require(Self.table.find("/couch/a%2Fb/c%C3%A9?x=%41"))
    let arguments = match.arguments(of: try #require(match.entry(for: .get)))
    #expect(arguments["db"] == "a%2Fb" && arguments["docid"] == "c%C3%A9")
    #expect(arguments["design"] == nil)
  }

  @Test func lastParameterMayTakeTheRestOfThePath() throws {
    let table = RouteTable([
      Self.route(.get, "/{docid}/{attachment}").takingRest, Self.route(.get, "/_local/{local}"),
    ])
    let match = try #require(table.find("/a/b/c%20d//e/?x=1"))
    let arguments = match.arguments(of: try #require(match.entry(for: .get)))
    #expect(arguments["docid"] == "a" && arguments["attachment"] == "b/c%20d/e")
    #expect(table.find("/_local/a/b") == nil)
    let fitting = table.routes(at: ["_local", "a", "b"]) + table.routes(at: ["_local", "a"])
    #expect(
      fitting.map(\.template) == [
        "/{docid}/{attachment}", "/_local/{local}", "/{docid}/{attachment}",
      ])
    #expect(table.routes(at: ["_local"]).isEmpty && table.routes(at: []).isEmpty)
  }

  @Test func headIsAnsweredByTheRouteOfGet() throws {
    let match = try #require(Self.table.find("/couch/a"))
    #expect(match.entry(for: .head)?.route.method == .get)
    #expect(match.entry(for: .delete) == nil)
  }
}
