import Documents
package import Stores

/// A reference to a user in a record that may outlive the account. It does not contain a name that the user has chosen, so
/// that nothing of an erased user remains. A generated name says nothing about a person and is kept as it is.
package struct UserReference: Sendable, Equatable {
  /// The reference as it is stored: a generated name, or the id of the user's document.
  package let text: String

  package init(stored text: String) { self.text = text }

  private init(_ name: UserName) {
    text = name.isGenerated ? name.text : AccountKeys.user(name).text
  }

  /// The reference to an account with a name, spelt as at the sign-up.
  /// - Returns: nil if there is no such account.
  package static func to(
    _ account: AccountID, named text: String, in view: any StoreView
  ) throws -> UserReference? {
    guard let name = try? UserName(given: text).usualSpelling,
      try UserDocument(view.document(AccountKeys.user(name)))?.id == account
    else { return nil }
    return UserReference(name)
  }

  /// The user's name; nil if the account does not exist any more. At most two indexed reads.
  package func username(of account: AccountID, in view: any StoreView) throws -> String? {
    if let name = try? UserName(given: text), name.isGenerated {
      return try UserDocument(view.document(AccountKeys.user(name)))?.id == account
        ? name.text : nil
    }
    guard try UserDocument(view.document(DocumentID(stored: text)))?.id == account else {
      return nil
    }
    return try view.local(LocalID(receipt: text)).map { try Credentials($0).name }
  }
}
