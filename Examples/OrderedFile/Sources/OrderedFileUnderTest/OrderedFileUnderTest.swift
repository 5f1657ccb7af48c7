import OrderedFile
public import PersistenceConformance
import PersistenceKeyValue

extension ContextUnderTest {
  /// How the suite opens OrderedFile stores, in this process and in its worker.
  public static let orderedFile = ContextUnderTest(
    "orderedfile", worker: .besideThisProgram("OrderedFileWorker")
  ) { path, options, monitoring in
    var configuration = OrderedStoreConfiguration()
    configuration.isMultiProcess = true
    configuration.reclaimsSpace = false
    configuration.isReadOnly = options.isReadOnly
    if let milliseconds = options.busyMilliseconds { configuration.busyTimeout = .milliseconds(milliseconds) }
    configuration.monitoring = monitoring
    let store = try OrderedFileStore(
      path: path, isReadOnly: options.isReadOnly, creates: options.creates)
    return try OrderedStoreContext(store, configuration: configuration)
  }
}
