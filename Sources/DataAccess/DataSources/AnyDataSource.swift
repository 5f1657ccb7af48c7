public import PersistenceCore
import PersistenceDriver

/// A store of any type, behind one: with queries, and with ``PersistenceError`` for whatever it throws.
public struct AnyDataSource<Object: PersistentRecord>: DataSource {
  /// The store inside.
  public let base: any DataSource<Object>

  private let translate: @Sendable (any Error) -> PersistenceError

  /// Wraps a store.
  ///
  /// - Parameter base: The store. Of its errors, a `PersistenceError` comes through as it is, a `CancellationError` has
  ///   code ``PersistenceError/Code/cancelled``, and any other ``PersistenceError/Code/engineFailure``.
  public init(_ base: any DataSource<Object>) {
    if let erased = base as? AnyDataSource<Object> {
      self = erased
    } else {
      self.init(base) { PersistenceError(of: $0) }
    }
  }

  /// Wraps a store whose errors are of a kind of its own.
  ///
  /// - Parameters:
  ///   - base: The store.
  ///   - translate: Says what an error of the store means.
  public init(
    _ base: any DataSource<Object>, errors translate: @escaping @Sendable (any Error) -> PersistenceError
  ) {
    self.base = base
    self.translate = translate
  }

  /// Whether the store inside answers in the order of the contract.
  public var hasContractOrder: Bool { base.hasContractOrder }

  /// Adds an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    do { return try await base.insert(object) } catch { throw translate(error) }
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    do { return try await base.update(object) } catch { throw translate(error) }
  }

  /// Replaces the object of the same key, if what is stored is still what was expected.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    do { return try await base.update(object, replacing: expected) } catch { throw translate(error) }
  }

  /// Adds an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    do { return try await base.save(object) } catch { throw translate(error) }
  }

  /// Deletes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    do { return try await base.delete(object) } catch { throw translate(error) }
  }

  /// Makes several changes, all of them or none.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    do { return try await base.apply(batch) } catch { throw translate(error) }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    do { return try await base.find(key) } catch { throw translate(error) }
  }

  /// The objects of a query, whole.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    do { return try await base.execute(query) } catch { throw translate(error) }
  }

  /// How many objects a query has.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    do { return try await base.count(query) } catch { throw translate(error) }
  }

  /// The objects of a query, a page at a time.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    func open<Base: DataSource>(_ base: Base) -> DataSourcePages<Object, PersistenceError>
    where Base.Object == Object {
      let (pages, translate) = (base.pages(query, size: size), translate)
      return DataSourcePages {
        let walk = SequenceWalk(pages)
        return { () async throws(PersistenceError) in
          do { return try await walk.next() } catch { throw translate(error) }
        }
      }
    }
    return open(base)
  }
}
