/// What a context shows otherwise than the reference does, and the program that makes it.
public struct FuzzDifference: Error, Sendable, Codable {
  /// The context's name.
  public var context: String
  /// The context's position among those that the program ran on.
  public var position: Int
  /// The program.
  public var program: FuzzProgram
  /// The step that showed it: positions of steps, outermost first.
  public var path: [Int]
  /// What the reference says.
  public var expected: String
  /// What the context says.
  public var found: String
}

extension FuzzDifference: CustomStringConvertible {
  /// What differs, where, in words.
  public var description: String {
    """
    \(context) differs from the reference at step \(path.map(String.init).joined(separator: "."))
    expected \(expected)
    found \(found)
    """
  }
}
