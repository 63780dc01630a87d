/// A value in a ``ParsedJSON``: a cheap pointer into it, which keeps the whole text alive.
package struct JSONNode: Sendable {
  /// The kinds of values of RFC 8259 section 3.
  package enum Kind: Sendable, Equatable {
    case null, bool, number, string, array, object
  }

  /// The text.
  let text: JSONText

  /// The index of the value on the text's tape.
  let index: Int

  /// Which kind of value this is.
  package var kind: Kind {
    switch text.tape.token(index) {
    case .no, .yes: .bool
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    case .null, .unused: .null
    }
  }

  /// Whether this is `null`.
  package var isNull: Bool {
    text.tape.token(index) == .null
  }

  /// The truth value, if it is one.
  package var bool: Bool? {
    switch text.tape.token(index) {
    case .yes: true
    case .no: false
    default: nil
    }
  }

  /// The characters of a string with its escapes resolved, if it is one.
  package var string: String? {
    text.tape.token(index) == .string ? text.string(index) : nil
  }

  /// The number as written, if it is one.
  package var number: JSONNumber? {
    guard text.tape.token(index) == .number else { return nil }
    return JSONNumber(checked: String(decoding: text.slice(index), as: UTF8.self))
  }

  /// The integer, if it is a number written without a point or an exponent that fits.
  package var int: Int? {
    number?.int
  }

  /// The double nearest to the number, if it is one.
  package var double: Double? {
    number?.double
  }

  /// The number of elements of an array or members of an object; 0 for any other kind.
  package var count: Int {
    text.tape.items(index)
  }

  /// Whether this is a string of exactly these UTF-8 bytes; makes no `String`.
  package func stringEquals(_ other: String) -> Bool {
    text.tape.token(index) == .string && text.string(index, equals: other)
  }

  /// The value of the member whose name has exactly these UTF-8 bytes; `nil` if there is none or
  /// this is no object. Looks at every member in turn.
  package subscript(name: String) -> JSONNode? {
    for member in members where member.nameEquals(name) {
      return member.value
    }
    return nil
  }

  /// The element at a position from 0; `nil` if there is none or this is no array. Steps over the
  /// elements before it: to visit them all, use ``elements``.
  package subscript(position: Int) -> JSONNode? {
    guard position >= 0, position < count else { return nil }
    return elements.dropFirst(position).first { _ in true }
  }

  /// The elements of an array, in order; empty for any other kind.
  package var elements: JSONElements {
    JSONElements(of: self)
  }

  /// The members of an object, in the order of the text; empty for any other kind.
  package var members: JSONMembers {
    JSONMembers(of: self)
  }
}
