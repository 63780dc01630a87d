import Accounts
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import Lists
import NIOCore
import Scheduling
import Stores
import Synchronization

/// A stream of changes: one for the caller's own store and all of the caller's lists.
///
/// Source: the HTML standard, "Server-sent events".
struct ObserverController: Sendable {
  let lists: ListService
  /// The streams that are being written.
  let feeds: CouchFeeds
  /// Gives each person their own store.
  let databases: CouchDatabaseAccess

  var routes: [Route] {
    [Route(.get, "/v1/changes", access: .person, run: observe)]
  }

  private func observe(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("id", "type", "list", "since", "timeout")
    let timeout = try query["timeout"].map { _ in
      Duration.milliseconds(try query.int("timeout", in: 0...86_400_000, default: 0))
    }
    let observer = try await observer(query, call, person)
    let registration = try await feeds.add(reader(call, person))
    for store in observer.stores where store != person.store { await registration.follow(store) }
    DisconnectHandler.onDisconnect(of: call.context.channel) { [signal = registration.signal] in
      signal.end(.clientLeft)
    }
    let memberships = MembershipFlag()
    let watcher =
      person.kind == .user
      ? lists.memberships.watch(person.id) { [signal = registration.signal] in
        memberships.raise()
        signal.change()
      } : nil
    let stream = ObserverStream(
      observer: observer, registration: registration, memberships: memberships, watcher: watcher,
      timeout: timeout)
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream", .cacheControl: "no-cache", .accelBuffering: "no",
      ],
      body: ResponseBody { writer in try await stream.write(to: &writer) })
  }

  private func observer(
    _ query: QueryParameters, _ call: Call, _ person: Principal
  ) async throws -> Observer {
    var list: AccountID?
    if let text = query["list"] {
      guard person.kind == .user, let id = AccountID(text) else { throw Problem.notFound }
      list = id
    }
    let filter = Observer.Filter(
      id: try query["id"].map { try DocumentID($0) },
      type: try query.text("type", maximumBytes: DocumentID.maximumBytes), list: list)
    let account = person.kind == .user ? person.id : nil
    let since = call[.lastEventID].flatMap { $0.isEmpty ? nil : $0 } ?? query["since"] ?? "now"
    switch since {
    case "now":
      return try await .fromNow(lists, account: account, own: person.store, filter)
    case "0":
      return try await .fromStart(lists, account: account, own: person.store, filter)
    default:
      guard let token = ObserverToken(since) else {
        throw Problem(
          .badRequest, "invalid_parameter",
          "Last-Event-ID or since must be the id of an event of this stream, 0 or now")
      }
      return try await .going(
        on: token, lists, account: account, own: person.store, filter)
    }
  }

  private func reader(_ call: Call, _ person: Principal) -> CouchFeedReader {
    let own = databases.own(of: person, as: call.writeContext)
    var reader = CouchFeedReader(call, own, waits: true)
    reader.observes = true
    return reader
  }
}
