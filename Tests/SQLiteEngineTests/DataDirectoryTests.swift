import Foundation
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite struct DataDirectoryTests {
  private func refusal(_ path: String) async -> DataDirectoryError.Code? {
    do throws(DataDirectoryError) {
      await (try FileEngine.open(directory: path, threads: 1)).close()
      return nil
    } catch {
      return error.code
    }
  }

  @Test(.bug(id: "F19")) func secondEngineIsRefusedUntilTheFirstIsClosed() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    #expect(await refusal(directory.path) == .inUse)
    await engine.close()
    #expect(await refusal(directory.path) == nil)
  }

  @Test func newDirectoryIsForTheOwnerAlone() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/data"
    #expect(await refusal(path) == nil)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    let file = try FileManager.default.attributesOfItem(atPath: path + "/registry.sqlite")
    #expect(file[.posixPermissions] as? Int == 0o600)
  }

  @Test(.bug(id: "F10")) func unusableDirectoriesAreRefused() async throws {
    let directory = try TemporaryDirectory()
    #expect(await refusal(directory.path + "/no/such") == .unreachable)
    #expect(await refusal("") == .unreachable)
    try write([1], to: directory.path + "/file")
    #expect(await refusal(directory.path + "/file") == .notADirectory)
    #expect(await refusal(directory.path + "/file/data") == .unreachable)
  }

  @Test func lostOrDamagedRegistryIsRefused() async throws {
    for damage in 0..<3 {
      let directory = try TemporaryDirectory()
      let engine = try await FileEngine.open(directory: directory.path)
      await (try await engine.store(.system)).close()
      await engine.close()
      let registry = directory.path + "/registry.sqlite"
      switch damage {
      case 0: try remove(registry)
      case 1: try write([], to: registry)
      default: try write(Array(try contents(registry).prefix(5_000)), to: registry)
      }
      #expect(await refusal(directory.path) == .registry)
    }
  }

  @Test func fileNamesHoldNothingOfTheStoresName() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let name = StoreName.named(try #require(DatabaseName("secret/name")))
    await (try await engine.store(name)).close()
    await engine.close()
    let file = try #require(directory.files().first { $0.hasPrefix("stores/") })
    #expect(file.utf8.count == "stores/ab/cd/".utf8.count + 64 + ".sqlite".utf8.count)
    #expect(!file.contains("secret"))
  }

  @Test(.bug(id: "F10")) func networkFileSystemIsFoundByItsMount() {
    let mounts = """
      /dev/vda / ext4 rw 0 0
      server:/data /srv/my\\040data nfs4 rw 0 0
      tmpfs /srv/my\\040data/local tmpfs rw 0 0
      """
    #expect(DataDirectory.fileSystem(of: "/srv/my data/x", in: mounts) == "nfs4")
    #expect(DataDirectory.fileSystem(of: "/srv/my data", in: mounts) == "nfs4")
    #expect(DataDirectory.fileSystem(of: "/srv/my data/local/x", in: mounts) == "tmpfs")
    #expect(DataDirectory.fileSystem(of: "/srv/my database", in: mounts) == "ext4")
  }
}
