import Foundation

/// One check of the contract, as a value: run it against a context, and it throws where the contract is broken.
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

  /// What must hold, in one sentence.
  public let title: String

  /// The rules of the contract that it checks, the most important first.
  public let rules: [ContractRule]

  /// The capabilities that it needs; a context that declares to lack one is excused.
  public let requirements: [Requirement]

  let body: Body

  /// Makes a check that blocks the thread it runs on.
  init(
    _ title: String, _ rules: [ContractRule], needs requirements: [Requirement] = [.writable],
    _ body: @escaping @Sendable (ContextUnderTest) throws -> Void
  ) {
    self.title = title
    self.rules = rules
    self.requirements = requirements
    self.body = .blocking(body)
  }

  /// Makes a check that awaits.
  init(
    asynchronous title: String, _ rules: [ContractRule], needs requirements: [Requirement] = [.writable],
    _ body: @escaping @Sendable (ContextUnderTest) async throws -> Void
  ) {
    self.title = title
    self.rules = rules
    self.requirements = requirements
    self.body = .asynchronous(body)
  }

  /// Runs the check on fresh stores of a context, and removes them.
  ///
  /// It blocks the calling thread while the context works, but for checks that await: those run on threads of their
  /// own, two at a time. The context should not be excused: see ``excuse(for:)``.
  ///
  /// - Parameter context: The context.
  /// - Throws: ``ConformanceFailure`` where the contract is broken, and whatever the context throws where it
  ///   should not.
  public func run(on context: ContextUnderTest) async throws {
    switch body {
    case .blocking(let body): try context.withScratch { try body($0) }
    case .asynchronous(let body):
      let scratch = try ScratchFolder(in: context.folder)
      defer { scratch.remove() }
      try await CheckThreads.shared.runInTurn { try await body(context.standing(in: scratch)) }
    }
  }

  /// The declared capability that excuses a context from this check; nil where it has to pass.
  ///
  /// - Parameter context: The context.
  /// - Returns: The capability.
  /// - Throws: What opening a fresh store meets.
  public func excuse(for context: ContextUnderTest) throws -> Requirement? {
    let capabilities = try context.capabilities()
    return requirements.first { !$0.isMet(by: capabilities) }
  }
}

extension ConformanceCheck: Identifiable, CustomStringConvertible {
  /// Rules and title, which no other check shares.
  public var id: String { description }

  /// Rules and title.
  public var description: String { rules.map(\.rawValue).joined(separator: " ") + " " + title }
}
