/// What is counted next.
nonisolated(unsafe) private var work: () throws -> Void = {}
nonisolated(unsafe) private var failure: (any Error)?

/// The function that Callgrind counts in, and after each run of which it writes what it counted; it is found by
/// ``symbol``, so that it is neither private nor inlined.
@inline(never)
func doCountedWork() {
  do { try work() } catch { failure = error }
}

/// The symbol of the function above.
let symbol = "$s12Instructions13doCountedWorkyyF"

/// Does work that is counted.
func measured(_ body: @escaping () throws -> Void) throws {
  work = body
  doCountedWork()
  work = {}
  if let failure { throw failure }
}
