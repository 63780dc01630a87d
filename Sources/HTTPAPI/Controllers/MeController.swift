import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Lists
import Stores

/// The caller's own account.
struct MeController: Sendable {
  let accounts: AccountService
  let hotels: HotelService
  let lists: ListService
  let stores: DatabaseManager
  let authentication: Authentication
  let renewal: SessionRenewal
  let address: ServerAddress

  var routes: [Route] {
    [
      Route(.get, "/v1/me", access: .person, answer: .uncached, run: me),
      .completed(.patch, "/v1/me") { call, person in
        let body = try await call.json(.small)
        guard body.kind == .object, body.count == 1, let name = body["displayName"],
          name.kind == .null || name.string != nil
        else { throw Problem.badRequest("The body must have displayName alone, a string or null") }
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await accounts.setDisplayName(
            name.string, of: person, as: call.writeContext, answer: answer)
        }
      },
      Route(
        .delete, "/v1/me", access: .person, completion: .always, changes: .credentials, run: erase),
      Route(.get, "/v1/me/adoptions", access: .person, run: listAdoptions),
      .completed(.delete, "/v1/me/adoptions/{id}") { call, person in
        guard person.kind == .user, let guest = AccountID(try call.parameter("id")) else {
          throw Problem.notFound
        }
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await accounts.undoAdoption(
            of: guest, by: person, as: call.writeContext, answer: answer
          ) { try await hotels.undoAdoption(of: guest, in: person.store, as: call.writeContext) }
        }
      },
      Route(
        .put, "/v1/me/password", access: .signedIn, answer: .uncached, completion: .always,
        changes: .credentials
      ) { call, person in
        let takesCookie = try authentication.takesCookie(call, isRequired: false)
        let body = try await call.json(.small)
        let token = try await accounts.changePassword(
          of: person, from: Secret(try CredentialsBody.text("currentPassword", in: body)),
          to: Secret(try CredentialsBody.text("password", in: body)), at: call.address)
        guard let token else { return .empty(.noContent) }
        var fields: HTTPFields = [:]
        if takesCookie { fields[.setCookie] = address.cookie(token) }
        if call[.authorization] != nil { fields[.renewedToken] = token.token.exposed }
        return .empty(.noContent, headers: fields)
      },
    ]
  }

  /// Answers with the caller's account and how full their store is. A token that is a day old or more is renewed, even
  /// if another answer has renewed it (``SessionRenewal``). `expiresAt` is the
  /// end of the token that the caller has then.
  private func me(_ call: Call, _ person: Principal) async throws -> Response {
    let usage = try await stores.read(person.store) { view in
      let info = try view.info()
      return try (documents: info.documentCount, bytes: info.storedBytes + view.attachmentBytes())
    }
    let quota = StoreLimits.standard(for: person.store)
    var fields: HTTPFields = [:]
    let name = try await accounts.name(of: person)
    let renewed = await accounts.renewed(person)
    if let renewed { renewal.add(renewed, to: &fields, answering: call) }
    return .json(headers: fields) { writer in
      writer.member("id", person.id.text)
      writer.member("kind", person.kind.rawValue)
      if let name { writer.person(name) }
      writer.member("store", person.storeName)
      writer.member("couch", address.couchURL(for: call) + "/" + person.storeName)
      for (name, documents, bytes) in [
        ("usage", usage?.documents ?? 0, usage?.bytes ?? 0),
        ("quota", quota.documents, quota.bytes),
      ] {
        writer.object(name) { writer in
          writer.member("documents", Int(documents))
          writer.member("bytes", Int(bytes))
        }
      }
      if let expires = renewed?.expiresAt ?? person.expiresAt {
        writer.member("expiresAt", expires.rfc3339)
      }
    }
  }

  /// Answers the adoptions from guests that can be undone.
  private func listAdoptions(_ call: Call, _ person: Principal) async throws -> Response {
    let adoptions = try await hotels.adoptions(in: person.store)
    return .json { writer in
      writer.objects("adoptions", of: adoptions) { $1.adoption($0) }
    }
  }

  /// Erases the caller. Their own lists are deleted, or pass to another member if the query asks for that.
  private func erase(_ call: Call, _ person: Principal) async throws -> Response {
    let handling = try call.query("lists")["lists"] ?? "delete"
    guard ["delete", "handOn"].contains(handling) else {
      throw Problem.invalidParameter("lists must be delete or handOn")
    }
    let handsOn = handling == "handOn"
    if person.kind == .user {
      try await lists.settleOwned(by: person.id, handingOn: handsOn, as: call.writeContext)
    }
    try await accounts.erase(person, handingListsOn: handsOn)
    // The account is already gone. If telling the other members' devices fails now, it happens later.
    _ = try? await lists.catchUp()
    return .empty(.noContent, headers: ServerAddress.cookieRemoval)
  }
}

extension Principal {
  /// The store's name as a database of the sync protocol: `guest-<id>`, `user-<id>`.
  var storeName: String { store.namespace + "-" + id.text }
}
