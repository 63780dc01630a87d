/// A user as the system store has them.
struct KnownUser: Sendable {
  /// The account.
  let document: UserDocument
  /// The name and the password.
  let credentials: Credentials
  /// How often the credentials were written.
  let revision: Int64

  /// The name that they have.
  var name: UserName? { try? UserName(credentials.name) }
}
