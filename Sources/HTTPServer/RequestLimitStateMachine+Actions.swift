/// The actions that ``RequestLimitHandler`` carries out.
extension RequestLimitStateMachine {
  enum HeadAction {
    /// Ignore it: it comes after the last request of its connection.
    case ignore
    /// No other request is outstanding: answer it at once (``answerAtOnce()``) or admit it (``admit(at:)``).
    case ask
    case forward(RequestReservation)
    /// Refuse it: ``ConnectionRefusal/overloaded``.
    case refuse
    /// Close the HTTP/2 stream: there is no memory even for a refusal, which the client may not take.
    case close
  }

  /// What to do with a part of a body, or with its end.
  enum BodyAction: Equatable {
    /// Discard it.
    case ignore
    case forward
    case close
    /// Report the error to the route that reads the body.
    case fail(ConnectionRefusal)
    /// A refused request has ended. Pass its end on to the idle timer, and end the connection, as the values say.
    case endRefused(isPassedOn: Bool, endsConnection: Bool)
  }

  enum AnswerAction: Equatable {
    /// Write it. `isLast` says whether it is the last of its connection.
    case write(isLast: Bool)
    /// The parser refused the request: write the refusal in its place.
    case refuse
    /// There is no memory for it: write ``ConnectionRefusal/overloaded`` in its place.
    case replace(isLast: Bool)
    /// The request that the parser refused was already answered: close the connection.
    case close
  }

  enum TimeAction: Equatable {
    /// No limit is reached.
    case none
    /// Close the connection at once.
    case cut
    /// Report the error to the route that reads the body.
    case fail(ConnectionRefusal)
    /// Answer instead of the route.
    case refuse(ConnectionRefusal)
  }
}
