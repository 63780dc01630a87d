import Glibc
import SQLite
import Stores
import Testing

@testable import SQLiteEngine

@Suite struct ErrorTests {
  @Test(arguments: [
    (SQLiteError.Code.corrupt, Int32(11), Int32(0), StoreError.Code.damaged),
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
    code: SQLiteError.Code, extended: Int32, number: Int32, meaning: StoreError.Code
  ) {
    let error = SQLiteError(
      code, extendedCode: extended, systemErrno: number, message: "/secret/path")
    #expect(StoreError(error).code == meaning)
    #expect(!StoreError(error).reason.contains("secret"))
  }

  @Test func failedSystemCallsAreNeverAbsence() {
    for (number, meaning) in [
      (ENOENT, StoreError.Code.unavailable), (EMFILE, .unavailable), (EACCES, .unavailable),
      (ENOTDIR, .unavailable), (ENOSPC, .storageFull), (EFBIG, .storageFull), (EROFS, .readOnly),
      (EIO, .storage),
    ] {
      errno = number
      #expect(StoreError(SystemError("open", "/x")).code == meaning)
    }
  }
}
