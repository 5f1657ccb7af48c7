import OneFile
public import PersistenceConformance

extension ContextUnderTest {
  /// How the suite opens OneFile stores, in this process and in its worker.
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
