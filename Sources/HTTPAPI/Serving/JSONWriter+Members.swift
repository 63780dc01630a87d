import Accounts
import Documents

extension JSONWriter {
  /// Writes how others see a user: the user name, and the display name if there is one.
  mutating func person(
    _ name: PersonName, as member: String = "username", displayed: String = "displayName"
  ) {
    self.member(member, name.username)
    if let displayName = name.displayName { self.member(displayed, displayName) }
  }
}
