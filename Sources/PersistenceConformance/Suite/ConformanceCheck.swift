import Foundation

/// One check of the contract, as a value that throws if a context breaks the contract.
///
/// ```swift
/// @Test(arguments: ConformanceCheck.all)
/// func contract(check: ConformanceCheck) async throws { try await check.run(on: myContext) }
/// ```
public struct ConformanceCheck: Sendable {
  enum Body: Sendable {
    case blocking(@Sendable (ContextUnderTest) throws -> Void)
    case asynchronous(@Sendable (ContextUnderTest) async throws -> Void)
  }

  /// The required behavior, in one sentence.
  public let title: String

  /// The rules of the contract that it checks, the most important first.
  public let rules: [ContractRule]

  /// The capabilities that it needs; a context without one of them is excused.
  public let requirements: [Requirement]

  let body: Body

  init(
    _ title: String, _ rules: [ContractRule], needs requirements: [Requirement] = [.writable],
    _ body: @escaping @Sendable (ContextUnderTest) throws -> Void
  ) {
    (self.title, self.rules, self.requirements, self.body) = (title, rules, requirements, .blocking(body))
  }

  init(
    asynchronous title: String, _ rules: [ContractRule], needs requirements: [Requirement] = [.writable],
    _ body: @escaping @Sendable (ContextUnderTest) async throws -> Void
  ) {
    (self.title, self.rules, self.requirements, self.body) = (title, rules, requirements, .asynchronous(body))
  }

  /// Runs the check on new stores of a context, and removes them.
  ///
  /// Checks run on dedicated threads, a few at a time. Do not run a check that excuses the context: see
  /// ``excuse(for:)``.
  ///
  /// - Parameter context: The context.
  /// - Throws: ``ConformanceFailure`` if the context breaks the contract, and errors that the context should
  ///   not have thrown.
  public func run(on context: ContextUnderTest) async throws {
    switch body {
    case .blocking(let body): try await CheckExecutor.run { try context.withScratch { try body($0) } }
    case .asynchronous(let body):
      let scratch = try ScratchFolder(in: context.folder)
      defer { scratch.remove() }
      try await CheckExecutor.runLimited { try await body(context.standing(in: scratch)) }
    }
  }

  /// Returns the declared capability that excuses a context from this check; nil if the context must pass.
  ///
  /// - Parameter context: The context.
  /// - Returns: The capability.
  /// - Throws: An error of opening a new store.
  public func excuse(for context: ContextUnderTest) throws -> Requirement? {
    let capabilities = try context.capabilities()
    return requirements.first { !$0.isMet(by: capabilities) }
  }
}

extension ConformanceCheck: Identifiable, CustomStringConvertible {
  /// The rules and the title, which are unique.
  public var id: String { description }

  /// The rules and the title.
  public var description: String { rules.map(\.rawValue).joined(separator: " ") + " " + title }
}
