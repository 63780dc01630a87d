/// What a frame of the peer leads to.
package enum BLIPEvent: Sendable {
  /// A message is complete. An answer has the number of its request.
  case message(UInt64, BLIPMessage)
  /// Some of an answer's body has come, which is passed on part by part.
  case part(UInt64, [UInt8], isLast: Bool)
}
