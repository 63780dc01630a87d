/// Tells the connection that a route is about to read a body: a client that waits for leave to send it
/// (`Expect: 100-continue`, RFC 9110, section 10.1.1) is given it then and not before.
struct BodyWanted: Sendable {}
