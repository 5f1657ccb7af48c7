public import DataAccess
public import PersistenceCore
public import PersistenceDriverSupport

/// Where the checks get the stores that they are run on: the one thing that the author of a store writes.
///
/// ```swift
/// struct MyDataSources: DataSourceUnderTest {
///   func withStore<Object: PersistentRecord>(
///     of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
///   ) async throws {
///     let server = try await startServer(for: Object.schema)
///     defer { server.stop() }
///     try await body(MyDataSource<Object>(server.address))
///   }
/// }
///
/// @Test(arguments: DataSourceCheck.all)
/// func keepsTheRules(check: DataSourceCheck) async throws { try await check.run(on: MyDataSources()) }
/// ```
public protocol DataSourceUnderTest: Sendable {
  /// Makes an empty store, lends it to a closure and removes it.
  ///
  /// - Parameters:
  ///   - type: What the store keeps.
  ///   - body: Is run once.
  /// - Throws: What the closure throws, and what making the store meets.
  func withStore<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws

  /// What an error of the store means; nil where it means none of the codes.
  ///
  /// - Parameter error: What a method of the store threw.
  /// - Returns: The code; by default that of a `PersistenceError`.
  func code(of error: any Error) -> PersistenceError.Code?
}

extension DataSourceUnderTest {
  /// The code of a `PersistenceError`.
  public func code(of error: any Error) -> PersistenceError.Code? { (error as? PersistenceError)?.code }
}

/// The stores of repositories, to run the checks on.
public struct RepositoryProvider: DataSourceUnderTest {
  private let open: @Sendable () throws -> Repository

  /// Makes a provider.
  ///
  /// - Parameter open: Opens a repository that holds nothing yet; one in memory by default. It is closed afterwards.
  public init(_ open: @escaping @Sendable () throws -> Repository = { Repository(MemoryContext()) }) {
    self.open = open
  }

  /// Lends a store of a fresh repository.
  public func withStore<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    let repository = try open()
    do {
      try await body(repository.dataSource(of: type))
    } catch {
      try? repository.close()
      throw error
    }
    try repository.close()
  }
}
