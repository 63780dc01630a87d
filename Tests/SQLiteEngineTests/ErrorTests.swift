import Glibc
import SQLite
import Stores
import Testing

@testable import SQLiteEngine

@Suite struct ErrorTests {
  @Test(arguments: [
    (SQLiteError.Code.corrupt, Int32(11), Int32(0), ServiceError.Code.damaged),
    (.notADatabase, 26, 0, .damaged),
    (.constraint, 2_067, 0, .damaged),
    (.other, 1, 0, .damaged),
    (.cantOpen, 14, EMFILE, .unavailable),
    (.cantOpen, 14, ENOENT, .unavailable),
    (.busy, 5, 0, .unavailable),
    (.full, 13, ENOSPC, .storageFull),
    (.ioError, 778, ENOSPC, .storageFull),
    (.ioError, 778, EFBIG, .storageFull),
    (.ioError, 1_034, EIO, .storage),
    (.ioError, 1_034, ENOSPC, .storage),
    (.ioError, 266, EIO, .storage),
    (.readOnly, 8, 0, .readOnly),
    (.misuse, 21, 0, .storage),
  ])
  func everyFailureOfSQLiteHasItsMeaning(
    code: SQLiteError.Code, extended: Int32, number: Int32, meaning: ServiceError.Code
  ) {
    let error = SQLiteError(
      code, extendedCode: extended, systemErrno: number, message: "/secret/path")
    #expect(ServiceError(error).code == meaning)
    #expect(!ServiceError(error).reason.contains("secret"))
  }

  @Test func failedSystemCallsAreNeverAbsence() {
    for (number, meaning) in [
      (ENOENT, ServiceError.Code.unavailable), (EMFILE, .unavailable), (EACCES, .unavailable),
      (ENOTDIR, .unavailable), (ENOSPC, .storageFull), (EFBIG, .storageFull), (EROFS, .readOnly),
      (EIO, .storage),
    ] {
      errno = number
      #expect(ServiceError(SystemError("open", "/x")).code == meaning)
    }
  }
}
