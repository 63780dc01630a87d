/// Why a connection can't continue: the peer has sent what the protocol does not allow.
package enum BLIPError: Error, Sendable, Equatable {
  /// A frame or a message breaks a rule of the protocol. The text says which one.
  case malformed(String)
  /// A message is too long, or there are too many of them.
  case tooLarge(String)
  /// There is not enough memory to inflate.
  case outOfMemory

  /// The text for the peer.
  package var reason: String {
    switch self {
    case .malformed(let text), .tooLarge(let text): text
    case .outOfMemory: "There is not enough memory"
    }
  }
}
