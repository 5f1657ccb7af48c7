public import Foundation
public import PersistenceCore

/// A context that the suite checks: its name, and a closure that opens a store.
///
/// The suite creates paths in folders of its own. Opening the same path twice must give the same store,
/// unless the context declares that it is not durable. The store's own `Capabilities` declare all other
/// differences.
///
/// ```swift
/// let mine = ContextUnderTest("mine") { path, options, monitoring in
///   try MyContext(path: path, isReadOnly: options.isReadOnly, monitoring: monitoring)
/// }
/// ```
public struct ContextUnderTest: Sendable {
  /// Opens a store at a path, with options, and reports to a monitoring.
  ///
  /// The context decides whether the path becomes a file or a folder.
  public typealias Opening =
    @Sendable (_ path: String, _ options: OpeningOptions, _ monitoring: Monitoring) throws
    -> any StorageContext

  /// The name, for reports.
  public let name: String

  /// How much work random checks do.
  public var effort: Effort

  /// The seed of random checks; nil gives each check its own constant seed, so that runs are alike.
  public var seed: UInt64?

  /// The program that opens stores in a second process.
  ///
  /// A context that declares `isDurable`, `isMultiProcess` or `hasFiles` needs one.
  public var worker: WorkerProgram?

  /// The folder for the folders of stores; nil for the system's temporary folder.
  public var folder: URL?

  private let opening: Opening
  /// Read once: almost every check asks for them.
  let knownCapabilities = CapabilitiesMemo()
  private(set) var scratch: ScratchFolder?

  /// Describes a context.
  ///
  /// - Parameters:
  ///   - name: The name, for reports.
  ///   - effort: How much work random checks do.
  ///   - worker: The program that opens stores in a second process.
  ///   - opening: Opens the store at a path.
  public init(
    _ name: String, effort: Effort = .quick, worker: WorkerProgram? = nil, opening: @escaping Opening
  ) {
    self.name = name
    self.effort = effort
    self.worker = worker
    self.opening = opening
  }

  package func open(_ path: String, _ options: OpeningOptions, _ monitoring: Monitoring) throws
    -> any StorageContext
  {
    try opening(path, options, monitoring)
  }

  func standing(in scratch: ScratchFolder) -> ContextUnderTest {
    var copy = self
    copy.scratch = scratch
    return copy
  }
}

extension ContextUnderTest: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
