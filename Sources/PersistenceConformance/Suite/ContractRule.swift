/// The numbered rules that every context keeps, and that callers can rely on with every engine.
///
/// `Documentation/Contract.md` has the full text of the rules.
public enum ContractRule: String, Sendable, Hashable, Codable, CaseIterable {
  case v1 = "V1"
  case v2 = "V2"
  case v3 = "V3"
  case v4 = "V4"
  case v4a = "V4a"
  case v5 = "V5"
  case v6 = "V6"
  case v7 = "V7"
  case o1 = "O1"
  case o2 = "O2"
  case o3 = "O3"
  case o4 = "O4"
  case w1 = "W1"
  case w2 = "W2"
  case w3 = "W3"
  case w4 = "W4"
  case w5 = "W5"
  case w6 = "W6"
  case r1 = "R1"
  case r1a = "R1a"
  case r2 = "R2"
  case r3 = "R3"
  case r4 = "R4"
  case e1 = "E1"
  case e2 = "E2"
  case e3 = "E3"
  case e4 = "E4"
  case e5 = "E5"
  case e6 = "E6"
  case e7 = "E7"
  case c1 = "C1"
  case c2 = "C2"
  case u1 = "U1"
  case u2 = "U2"

  /// The subject of the rule, in a few words.
  public var title: String {
    switch self {
    case .v1: "kinds of values"
    case .v2: "values are read back unchanged"
    case .v3: "strings compare by their bytes"
    case .v4: "doubles have one total order"
    case .v4a: "the orders of the other kinds"
    case .v5: "integers keep every digit"
    case .v6: "logic is two-valued"
    case .v7: "text search"
    case .o1: "primary keys"
    case .o2: "results have one total order"
    case .o3: "nil sorts first"
    case .o4: "limit, offset and pages"
    case .w1: "insert, update, save and delete"
    case .w2: "write loses no update"
    case .w3: "transactions are all or nothing"
    case .w4: "unique indexes"
    case .w5: "committed transactions are durable"
    case .w6: "one writer at a time, readers never wait"
    case .r1: "results are lazy"
    case .r1a: "results inside transactions"
    case .r2: "results are snapshots"
    case .r3: "results are collections"
    case .r4: "failures are never skipped"
    case .e1: "models and contexts that do not match"
    case .e2: "errors are stable and complete"
    case .e3: "unknown fields"
    case .e4: "stores with another schema"
    case .e5: "failing media and damaged files"
    case .e6: "hostile names and keys"
    case .e7: "stores that cannot grow"
    case .c1: "threads and tasks"
    case .c2: "several processes"
    case .u1: "observers get every commit once"
    case .u2: "observers get commits of other processes"
    }
  }
}

extension ContractRule: CustomStringConvertible {
  /// The rule's number.
  public var description: String { rawValue }
}
