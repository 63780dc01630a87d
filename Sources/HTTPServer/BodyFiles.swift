import Glibc
package import IPAddresses
import Scheduling
import Synchronization

/// The files of bodies that are too long for memory, and the account of their bytes: of all files together, and of each
/// address. A file has no name, so nothing of it is left when its request ends or the process is killed.
package final class BodyFiles: Sendable {
  /// Why a body can't be put into a file.
  package enum Failure: Error, Sendable, Equatable {
    /// The files, or those of the address, have as many bytes as they may.
    case full
    /// The disk failed, with this error number.
    case disk(Int32)
  }

  private struct State {
    var total = 0
    var byAddress: [ClientAddress: Int] = [:]
  }

  /// The most bytes of all files.
  package let bytes: Int
  /// The most bytes of the files of one address.
  package let bytesPerAddress: Int

  private let directory: String
  private let state = Mutex(State())
  /// One thread for all files. Elsewhere a slow disk would stop other requests.
  fileprivate let threads = ThreadPool(name: "bodies")

  /// Makes an account without files.
  /// - Parameter directory: where the files are, on a disk and not in memory.
  package init(
    in directory: String, bytes: Int = RequestLimits.bodyFileBytes,
    bytesPerAddress: Int = RequestLimits.bodyFileBytesPerAddress
  ) {
    self.directory = directory
    self.bytes = bytes
    self.bytesPerAddress = bytesPerAddress
  }

  package var byteCount: Int { state.withLock { $0.total } }

  /// An empty file on the account of an address.
  package func file(for address: ClientAddress) -> BodyFile { BodyFile(self, address) }

  fileprivate func reserve(_ count: Int, _ address: ClientAddress) -> Bool {
    state.withLock { state in
      let own = state.byAddress[address, default: 0]
      guard state.total + count <= bytes, own + count <= bytesPerAddress else { return false }
      state.total += count
      state.byAddress[address] = own + count
      return true
    }
  }

  fileprivate func release(_ count: Int, _ address: ClientAddress) {
    state.withLock { state in
      state.total -= count
      let own = state.byAddress[address, default: 0] - count
      state.byAddress[address] = own > 0 ? own : nil
    }
  }

  /// Opens a file and removes its name.
  /// - Throws: ``Failure/disk(_:)``.
  fileprivate func open() throws(Failure) -> Int32 {
    var path = Array((directory + "/.body-XXXXXX").utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw .disk(errno) }
    guard unlink(path) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
      let number = errno
      close(descriptor)
      throw .disk(number)
    }
    return descriptor
  }
}

/// The file of one body. It exists from its first bytes until this object ends.
package final class BodyFile: Sendable {
  private let file: Confined<OpenBody>

  fileprivate init(_ files: BodyFiles, _ address: ClientAddress) {
    file = Confined(OpenBody(files, address), to: files.threads)
  }

  /// Appends bytes.
  /// - Throws: ``BodyFiles/Failure``.
  package func append(_ bytes: [UInt8]) async throws(BodyFiles.Failure) {
    try await file.run { file throws(BodyFiles.Failure) in try file.append(bytes) }
  }

  /// Reads a range of the bytes.
  /// - Throws: ``BodyFiles/Failure/disk(_:)``.
  package func read(_ range: Range<Int>) async throws(BodyFiles.Failure) -> [UInt8] {
    try await file.run { file throws(BodyFiles.Failure) in try file.read(range) }
  }
}

/// The open file of one body. Its calls block.
private final class OpenBody {
  private let files: BodyFiles
  private let address: ClientAddress
  private var descriptor: Int32 = -1
  private var count = 0

  init(_ files: BodyFiles, _ address: ClientAddress) {
    self.files = files
    self.address = address
  }

  deinit {
    guard count > 0 else { return }
    files.threads.enqueue { [files, address, descriptor, count] in
      if descriptor >= 0 { close(descriptor) }
      files.release(count, address)
    }
  }

  func append(_ bytes: [UInt8]) throws(BodyFiles.Failure) {
    guard files.reserve(bytes.count, address) else { throw .full }
    let start = count
    count += bytes.count
    if descriptor < 0 { descriptor = try files.open() }
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
          off_t(start + done))
      }
      if written > 0 {
        done += written
      } else if written == 0 || errno != EINTR {
        throw .disk(written == 0 ? ENOSPC : errno)
      }
    }
  }

  func read(_ range: Range<Int>) throws(BodyFiles.Failure) -> [UInt8] {
    var failure: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      while count < range.count, failure == nil {
        let read = pread(
          descriptor, buffer.baseAddress.map { $0 + count }, range.count - count,
          off_t(range.lowerBound + count))
        if read > 0 {
          count += read
        } else if read == 0 || errno != EINTR {
          failure = read == 0 ? EIO : errno
        }
      }
    }
    if let failure { throw .disk(failure) }
    return bytes
  }
}
