package import Documents

/// The stored answer to a write: what its client received, or would have received.
package struct KeptAnswer: Sendable, Equatable {
  /// One header field.
  package struct Field: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A document that the write changed.
  package struct Change: Sendable, Equatable {
    package let id: DocumentID
    /// The document's new revision.
    package let revision: RevisionID
  }

  /// The status code. From 400 on, the write was refused.
  package let status: Int
  /// The header fields of this answer: `Location`, `ETag`.
  package let fields: [Field]
  /// The body, JSON; empty when there is none.
  package let body: [UInt8]
  /// The changes of the write, in the order of their sequence numbers.
  package internal(set) var changes: [Change] = []
  /// Whether only this is known: the write was carried out, with this status. Its body was a secret, or has made room for
  /// newer answers. Of ``fields`` only `Location` is left.
  package private(set) var isGone = false

  package init(status: Int, fields: [Field] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  package var isRejection: Bool { status >= 400 }

  /// Creates an answer of which only the status and what was made are known.
  /// - Parameter location: the path of what was made.
  init(goneWith status: Int, location: String?) {
    let fields = location.map { [Field(name: Self.locationName, value: $0)] } ?? []
    self.init(status: status, fields: fields)
    isGone = true
  }

  /// The same answer without its body, for a route whose body is a secret.
  package var withoutBody: KeptAnswer { KeptAnswer(goneWith: status, location: location) }

  /// The name of the field with the path of what was made.
  private static let locationName = "Location"

  /// The path of what the write made; nil if the answer names none.
  package var location: String? {
    fields.first { $0.name.lowercased() == Self.locationName.lowercased() }?.value
  }

  /// Writes changed documents: `[{"id","rev"}…]`.
  package static func append(_ changes: [Change], to writer: inout JSONWriter) {
    writer.array(changes) { change, writer in
      writer.object { writer in
        writer.member("id", change.id.text)
        writer.member("rev", change.revision.description)
      }
    }
  }
}
