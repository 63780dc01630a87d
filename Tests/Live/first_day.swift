import Foundation
import OpenAPIClient

/// The first day of an app with the client that openapi-generator makes for Swift. Argument: the server's URL.
@main @MainActor struct FirstDay {
  private static let password = "a good password"
  private static let hotel = "hotel_25510"

  static func main() async throws {
    let url = CommandLine.arguments[1]
    func client(_ token: String? = nil) -> OpenAPIClientAPIConfiguration {
      let fields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
      return OpenAPIClientAPIConfiguration(basePath: url, customHeaders: fields)
    }
    let guest = client(try await AccountsAPI.createGuest(apiConfiguration: client()).token)
    let found = try await HotelsAPI.searchHotels(
      description: "pool", location: "san francisco", apiConfiguration: guest)
    let ritz = found.hotels.first { $0.id == hotel }
    _ = try await BookmarksAPI.putBookmark(hotelID: hotel, hotel: ritz, apiConfiguration: guest)
    guard let other = found.hotels.first(where: { $0.id != hotel })?.id else { exit(1) }
    _ = try await BookmarksAPI.putBookmark(hotelID: other, apiConfiguration: guest)
    try await BookmarksAPI.deleteBookmark(hotelID: other, apiConfiguration: guest)
    let mirror = try await BookmarksAPI.getMirror(apiConfiguration: guest)
    precondition(mirror.order == [hotel])

    let names = [UUID().uuidString, UUID().uuidString]
    _ = try await AccountsAPI.signUp(
      credentials: Credentials(username: names[0], password: password), apiConfiguration: guest)
    let own = client(
      try await AccountsAPI.logIn(
        logIn: LogIn(username: names[0], password: password), apiConfiguration: client()
      ).token)
    let second = client(
      try await AccountsAPI.signUp(
        credentials: Credentials(username: names[1], password: password), apiConfiguration: client()
      ).token)
    try await share(own, second, names[1])

    let export = try await AccountsAPI.exportMe(apiConfiguration: own)
    let read = try await AccountsAPI.importMe(body: export, apiConfiguration: second)
    precondition(read.documents > 0)
    let wrong = LogIn(username: names[0], password: "a wrong password")
    do {
      _ = try await AccountsAPI.logIn(logIn: wrong, apiConfiguration: client())
      exit(1)
    } catch {
      guard case .error(401, _, _, _) = error else { throw error }
    }
    print("done")
  }

  /// A list with a note and a member, to whom the list is offered.
  private static func share(
    _ own: OpenAPIClientAPIConfiguration, _ other: OpenAPIClientAPIConfiguration, _ name: String
  ) async throws {
    let list = try await ListsAPI.makeList(
      newList: NewList(title: "Trip"), apiConfiguration: own
    ).id
    for draft in [false, true] {
      _ = try await ListsAPI.putNote(
        listID: list, title: "a b", noteText: NoteText(markdown: "\(draft)"), draft: draft,
        apiConfiguration: own)
    }
    let note = try await ListsAPI.publishNote(listID: list, title: "a b", apiConfiguration: own)
    precondition(note.markdown == "true")
    let invited = try await ListsAPI.putMember(
      listID: list, username: name, memberRole: MemberRole(role: .editor), apiConfiguration: own)
    _ = try await ListsAPI.acceptInvitation(token: invited?.id ?? "", apiConfiguration: other)
    let change = ListChange(owner: name)
    let offered = try await ListsAPI.changeList(
      listID: list, listChange: change, apiConfiguration: own)
    precondition(offered.title == "Trip")
  }
}
