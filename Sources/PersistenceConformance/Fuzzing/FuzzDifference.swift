/// A difference between a context and the reference model, and the program that shows it.
public struct FuzzDifference: Error, Sendable, Codable {
  /// The context's name.
  public var context: String
  /// The context's position in the list of the program's contexts.
  public var position: Int
  /// The program.
  public var program: FuzzProgram
  /// The step with the difference: positions of steps, outermost first.
  public var path: [Int]
  /// The result of the reference model.
  public var expected: String
  /// The result of the context.
  public var found: String
}

extension FuzzDifference: CustomStringConvertible {
  /// The difference and its step, as text.
  public var description: String {
    """
    \(context) differs from the reference at step \(path.map(String.init).joined(separator: "."))
    expected \(expected)
    found \(found)
    """
  }
}
