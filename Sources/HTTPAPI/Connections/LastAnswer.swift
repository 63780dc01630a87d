/// Tells a connection's last handler that its last answer is written, or that there will be none: requests that
/// wait for their turn are not begun any more (RFC 9112, section 9.6).
struct LastAnswer: Sendable {}
