import Foundation
public import PersistenceCore

/// A program of the fuzzer, as plain data: schemas, and steps that use them.
///
/// Several schemas may declare one model. Stores accept another order of fields, and must reject other
/// differences (contract E4).
public struct FuzzProgram: Sendable, Codable {
  /// The schemas; steps refer to them by position.
  public var schemas: [ModelSchema]
  /// The steps, in order.
  public var steps: [FuzzStep]
  /// The references among the schemas, which the store lists before the first step.
  public var relations: [FuzzRelation]

  /// Creates a program.
  public init(schemas: [ModelSchema], steps: [FuzzStep], relations: [FuzzRelation] = []) {
    self.schemas = schemas
    self.steps = steps
    self.relations = relations
  }

  /// The number of operations: all steps, including those inside transactions.
  public var operations: Int { steps.reduce(0) { $0 + $1.operations } }

  /// The changes of schema, at any depth.
  var changes: [(model: Int, change: FuzzChange)] { steps.flatMap(\.changes) }

  /// Runs the program on a new store of a context, and compares it with the reference model after each step.
  ///
  /// - Parameter context: The context.
  /// - Throws: ``FuzzDifference`` if the context differs from the reference model, and ``PersistenceError``
  ///   if a store cannot be created.
  public func run(on context: ContextUnderTest) throws {
    let scratch = try ScratchFolder(in: context.folder)
    defer { scratch.remove() }
    if let difference = try difference(on: [context.standing(in: scratch)]) { throw difference }
  }

  /// Runs the program on new stores of several contexts side by side, up to the first difference.
  func difference(on contexts: [ContextUnderTest]) throws -> FuzzDifference? {
    var reference = FuzzReferenceRun(self)
    var subjects: [FuzzSubject] = []
    defer { for subject in subjects { subject.remove() } }
    // The first context asks for related keys first, the others soon for their own records.
    for context in contexts {
      subjects.append(try FuzzSubject(context, self, fewKeys: subjects.isEmpty ? .max : 2))
    }
    for (place, step) in steps.enumerated() {
      let expected = reference.run(step, at: place)
      for (position, subject) in subjects.enumerated() {
        let found = subject.run(step, at: place)
        if let difference = difference(expected, found, subject.context, position) { return difference }
      }
    }
    return nil
  }

  private func difference(
    _ expected: [FuzzOutcome], _ found: [FuzzOutcome], _ context: ContextUnderTest, _ position: Int
  ) -> FuzzDifference? {
    for number in 0..<max(expected.count, found.count) {
      let wanted = number < expected.count ? expected[number] : nil
      let given = number < found.count ? found[number] : nil
      if let wanted, let given, wanted.agrees(with: given) { continue }
      return FuzzDifference(
        context: context.name, position: position, program: self, path: (given ?? wanted)?.path ?? [],
        expected: wanted?.text(besides: given) ?? "nothing more",
        found: given?.text(besides: wanted) ?? "nothing more")
    }
    return nil
  }
}
