package import PersistenceDriver

/// The code of the error that a closure throws; nil if it throws none of the package's.
package func code(_ body: () throws -> Void) -> PersistenceError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? PersistenceError)?.code
  }
}
