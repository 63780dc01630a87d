import CouchSync
import HTTPTypes
import Hummingbird

/// The functions of design documents, which CouchDB runs and this service does not. It only stores them.
struct CouchFunctionController: Sendable {
  let databases: CouchDatabaseAccess

  var routes: [Route] {
    [
      function(.get, .views, "/_view/{function}"), function(.post, .views, "/_view/{function}"),
      function(.post, .views, "/_view/{function}/queries"),
      function(.get, .shows, "/_show/{function}"),
      function(.get, .shows, "/_show/{function}/{docid}"),
      function(.get, .lists, "/_list/{function}/{view}"),
      function(.post, .updates, "/_update/{function}"),
      function(.put, .updates, "/_update/{function}/{docid}"),
    ]
  }

  private func function(
    _ method: HTTPRequest.Method, _ kind: DesignFunction.Kind, _ path: String
  ) -> Route {
    databases.route(method, "/_design/{design}" + path) { call, store in
      let function = try DesignFunction(
        kind, try call.parameter("function"), in: try call.parameter("design"))
      return try await store.read { try await $0.run(function) }
    }
  }
}
