#if Configuration
  import Configuration
  import Foundation
  import PersistenceConfiguration
  import PersistenceCore
  import SystemPackage
  import Testing
  import PersistenceDriverSupport

  /// The URL comes from the environment or a file, so configuration alone selects the engine.
  struct ConfigurationTests {
    @Test("the URL comes from the environment")
    func environment() throws {
      let configuration = ConfigReader(
        provider: EnvironmentVariablesProvider(environmentVariables: ["PERSISTENCE_URL": "memory:?busy=1s"]))
      let repository = try Repository(configuration: configuration, engines: [])
      #expect(repository.context is MemoryContext)
    }

    @Test("the URL comes from a file, under a custom key")
    func file() async throws {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        .path
      try #"{ "app": { "store": "memory:" } }"#.write(toFile: path, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(atPath: path) }
      let configuration = ConfigReader(provider: try await FileProvider<JSONSnapshot>(filePath: .init(path)))
      let repository = try Repository(configuration: configuration, key: "app.store", engines: [])
      #expect(repository.context is MemoryContext)
    }

    @Test("a missing, unknown or malformed URL is an error that lists the known values")
    func mistakes() throws {
      func error(_ environment: [String: String]) -> PersistenceError? {
        let configuration = ConfigReader(
          provider: EnvironmentVariablesProvider(environmentVariables: environment))
        return #expect(throws: PersistenceError.self) {
          try Repository(configuration: configuration, engines: [])
        }
      }
      #expect(error([:])?.code == .invalidURL)
      #expect(error(["PERSISTENCE_URL": "nope:x"]).map { "\($0)".contains("memory:") } == true)
      #expect(error(["PERSISTENCE_URL": "memory:?colour=red"]).map { "\($0)".contains("busy") } == true)
    }
  }
#endif
