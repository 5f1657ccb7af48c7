/// A place in the sources, for reports.
public struct CallSite: Sendable, Hashable, CustomStringConvertible {
  /// The file, as `#fileID` gives it.
  public var fileID: String
  /// The line.
  public var line: UInt

  /// Makes a place; by default the one of the call.
  public init(fileID: String = #fileID, line: UInt = #line) {
    self.fileID = fileID
    self.line = line
  }

  /// The place as `Module/File.swift:12`.
  public var description: String { "\(fileID):\(line)" }
}
