import OneFile
public import PersistenceConformance

extension ContextUnderTest {
  /// How the suite opens stores of ours, here and in its second process.
  public static let oneFile = ContextUnderTest(
    "onefile", worker: .besideThisProgram("OneFileConform", arguments: ["worker"])
  ) { path, options, monitoring in
    var configuration = OneFileConfiguration()
    if let milliseconds = options.busyMilliseconds { configuration.busyTimeout = .milliseconds(milliseconds) }
    configuration.isReadOnly = options.isReadOnly
    configuration.creates = options.creates
    return try OneFileContext(path: path, configuration: configuration, monitoring: monitoring)
  }
}
