/// What ``RequestLimitHandler`` is told to do.
extension RequestLimitStateMachine {
  /// What to do with the head of a request.
  enum HeadAction {
    /// It comes after the last request of its connection.
    case ignore
    /// It is the only one: it may be answered at once (``answerAtOnce()``) or be begun (``admit(at:)``).
    case ask
    /// Pass it on.
    case forward(RequestHold)
    /// Refuse it: ``ConnectionRefusal/overloaded``.
    case refuse
  }

  /// What to do with a part of a body, or with its end.
  enum BodyAction: Equatable {
    /// Nobody reads it.
    case ignore
    /// Pass it on.
    case forward
    /// Give the connection up.
    case close
    /// Tell the route's reader of the body.
    case fail(ConnectionRefusal)
    /// A request that was refused has ended: pass its end on to the idle timer, and end the connection, where that is
    /// said.
    case endRefused(isPassedOn: Bool, endsConnection: Bool)
  }

  /// What to do with the head of an answer.
  enum AnswerAction: Equatable {
    /// Write it, as the last of its connection where that is said.
    case write(isLast: Bool)
    /// The parser refused the request: say so in its place.
    case refuse
    /// There is no memory for it: say so in its place.
    case replace(isLast: Bool)
    /// The request that the parser refused was answered already: give the connection up.
    case close
  }

  /// What to do when time has passed.
  enum TimeAction: Equatable {
    /// Nothing is too late.
    case none
    /// Cut the connection with whatever is on it.
    case cut
    /// Tell the route's reader of the body.
    case fail(ConnectionRefusal)
    /// Answer in place of the route.
    case refuse(ConnectionRefusal)
  }
}
