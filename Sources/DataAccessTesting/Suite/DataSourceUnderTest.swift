public import DataAccess
public import PersistenceCore
public import PersistenceDriverSupport

/// Makes the data sources for the checks: the one type that the author of a data source writes.
///
/// ```swift
/// struct MyDataSources: DataSourceUnderTest {
///   func withDataSource<Object: PersistentRecord>(
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
  /// Makes an empty data source for the duration of a closure.
  ///
  /// - Parameters:
  ///   - type: The type of the objects.
  ///   - body: The closure, called once.
  /// - Throws: The error of the closure, and errors of making the data source.
  func withDataSource<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws

  /// The code of an error; nil if no code has its meaning.
  ///
  /// - Parameter error: An error that the data source threw.
  /// - Returns: The code. The default implementation returns that of a `PersistenceError`.
  func code(of error: any Error) -> PersistenceError.Code?
}

extension DataSourceUnderTest {
  /// The code of a `PersistenceError`.
  public func code(of error: any Error) -> PersistenceError.Code? { (error as? PersistenceError)?.code }
}

/// The data sources of repositories, for the checks.
public struct RepositoryProvider: DataSourceUnderTest {
  private let open: @Sendable () throws -> Repository

  /// Creates a provider.
  ///
  /// - Parameter open: Opens an empty repository, which the provider closes; in memory by default.
  public init(_ open: @escaping @Sendable () throws -> Repository = { Repository(MemoryContext()) }) {
    self.open = open
  }

  /// Makes a data source over a new repository for the duration of a closure.
  public func withDataSource<Object: PersistentRecord>(
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
