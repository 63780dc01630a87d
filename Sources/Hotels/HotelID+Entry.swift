package import Documents

extension HotelID {
  /// An id as lists and batches hold it: text as it is, a whole number N as `hotel_N`. Nil for everything
  /// else, for an empty text, and for Python's `None`.
  package init?(entry node: JSONNode) {
    if let number = node.int {
      guard number >= 0 else { return nil }
      self.init("hotel_\(number)")
    } else {
      guard let text = node.string, !text.equalsBytes(of: "None") else { return nil }
      self.init(text)
    }
  }
}
