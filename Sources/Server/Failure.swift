import ArgumentParser
import HotelBookmarks

/// How a command ends that can't do its work: one line, and the exit status that sysexits.h gives it.
enum Failure {
  /// Settings or a data directory that can't be used: 78, EX_CONFIG.
  static func configuration(_ error: any Error) -> any Error {
    end(error, status: 78)
  }

  /// What kept the server from starting or a command from its work.
  static func start(_ error: any Error) -> any Error {
    end(error, status: StartFailure.isConfiguration(error) ? 78 : 1)
  }

  /// Settings by which no server can be asked: 1, as for one that is not ready.
  static func health(_ error: any Error) -> any Error { end(error, status: 1) }

  private static func end(_ error: any Error, status: Int32) -> any Error {
    StandardError.write(Array("hotel-bookmarks: \(StartFailure.line(error))\n".utf8))
    return ExitCode(status)
  }
}
