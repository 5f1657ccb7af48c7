/// A context that can check its own store, beyond what reading shows.
public protocol VerifiableContext: StorageContext {
  /// Checks the files of the store, and reads every record.
  ///
  /// - Parameter report: Called with each finding, in the order of the models' names. If it throws, the check ends.
  /// - Throws: ``PersistenceError`` if the store cannot be checked, and the closure's error.
  /// - Complexity: Linear in the size of the store.
  func verify(_ report: (StoreFinding) throws -> Void) throws
}

/// One thing that the check of a store has found.
public struct StoreFinding: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The kind of a finding.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Stored data cannot be read, or is not what the store wrote.
    case damaged
    /// A record that the store wrote is gone: it was deleted by hand, or lost.
    case missing
    /// A person or another program changed a record, which can be read.
    case edited
    /// A record can be read, but the store has no note of what it wrote.
    case unrecorded
    /// A record refers to a record that does not exist (contract L1).
    case dangling

    /// Whether the store may have lost data.
    public var isLoss: Bool { self == .damaged || self == .missing || self == .dangling }
  }

  /// The kind.
  public var kind: Kind
  /// The affected file, table or record.
  public var object: String
  /// What was found.
  public var detail: String

  /// Creates a finding.
  public init(_ kind: Kind, _ object: String, _ detail: String) {
    self.kind = kind
    self.object = object
    self.detail = detail
  }

  /// The finding in one line.
  public var description: String { "\(kind.rawValue): \(object): \(detail)" }
}
