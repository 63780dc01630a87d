/// What decides a write besides its rule. It is passed from the request to each update: nothing that decides what is
/// written is found in a task.
package struct WriteContext: Sendable {
  /// Who writes.
  package let author: Author
  /// From which device; nil if that says nothing of itself.
  package let device: DeviceLabel?
  /// What counts the bytes that are written to a guest's store; nil for nothing.
  let meter: WriteMeter?
  /// Until when an accepted write may be carried out; nil for no limit.
  package var deadline: WriteDeadline?
  /// What stores the answer in the transaction of the update that makes it; nil when no answer is to be stored.
  package var receipt: WriteReceipt?

  /// The context of a request's writes.
  package init(
    author: Author, device: DeviceLabel? = nil, meter: WriteMeter? = nil,
    deadline: WriteDeadline? = nil, receipt: WriteReceipt? = nil
  ) {
    self.author = author
    self.device = device
    self.meter = meter
    self.deadline = deadline
    self.receipt = receipt
  }

  /// What the service writes by itself.
  package static let server = WriteContext(author: .server)

  /// For what the service writes by itself because of this write, such as a merge: its author is the server, and no
  /// stored answer belongs to it.
  package var maintenance: WriteContext { repeating(writesOf: .server) }

  /// For what somebody wrote earlier and the service writes again because of this write.
  package func repeating(writesOf author: Author) -> WriteContext {
    WriteContext(author: author, meter: meter, deadline: deadline)
  }
}

/// Makes the answer to a write from the outcome of its update; nil for an outcome that is not the write's, such as a
/// conflict. It runs in the transaction, if an answer is to be stored (``WriteReceipt``).
package typealias Answering<Outcome> = @Sendable (Outcome) -> KeptAnswer?
