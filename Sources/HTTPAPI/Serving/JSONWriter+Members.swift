import Accounts
import JSON

extension JSONWriter {
  /// Writes how others see a user: the user name, and the display name if there is one.
  mutating func person(
    _ name: PersonName, as member: String = "username", displayed: String = "displayName"
  ) {
    self.member(member, name.username)
    if let displayName = name.displayName { self.member(displayed, displayName) }
  }

  /// Writes a member that is an array.
  mutating func array<Element>(
    _ name: String, of elements: some Sequence<Element>,
    _ write: (Element, inout JSONWriter) -> Void
  ) {
    self.name(name)
    beginArray()
    for element in elements { write(element, &self) }
    endArray()
  }
}
