extension ContractRule {
  /// The main sentence of the rule, word for word as in `Documentation/Contract.md`: failures quote it.
  package var sentence: String {
    switch self {
    case .v1:
      "Stored kinds: `Bool`, the integers but `UInt` and `UInt64`, `Float`, `Double`, `String`, "
        + "`[UInt8]`, `Data`, `Date`, `UUID`, `URL`, `Decimal`; raw-representable types and optionals of "
        + "them; other `Codable` values as one JSON document."
    case .v2:
      "A read returns exactly what was saved: scalar for scalar, bit for bit, byte for byte."
    case .v3:
      "Text is compared and ordered by UTF-8 bytes."
    case .v4:
      "Doubles: −∞ < finite < +∞ < NaN; NaN equals NaN; −0.0 is stored as 0.0."
    case .v4a:
      "false < true; UUIDs and data by bytes; URLs as text; decimals by value, NaN last; documents are "
        + "equal or not, and have no order."
    case .v5:
      "Integers keep every digit, everywhere."
    case .v6:
      "nil equals nil; every ordering with nil is false; a negation is true exactly where what it negates "
        + "is false."
    case .v7:
      "`contains`, `hasPrefix` and `hasSuffix` search for literal text, and compare Unicode scalars."
    case .v8:
      "A condition on a part of a document uses the JSON value at a path of member names; a part that is "
        + "missing or `null` is nil."
    case .o1:
      "One primary key, of one field or several: `Int`, `Int64`, `String`, `UUID`, or a wrapper of one."
    case .o2:
      "Without a sort, results are in key order."
    case .o3:
      "nil is first ascending, last descending."
    case .o4:
      "Limit, offset and anchor come after filter and sort."
    case .w1:
      "`insert` refuses an existing key, `update` a missing one, and `save` accepts both; `delete` tells "
        + "whether the record existed."
    case .w2:
      "`write` reads, changes and saves in one transaction."
    case .w3:
      "A transaction is all or nothing, across models; nested ones undo their own part."
    case .w4:
      "A unique index refuses the second value and names it; nil never collides, NaN does."
    case .w5:
      "An acknowledged write survives a kill and, at the default durability, a power loss."
    case .w6:
      "Transactions take effect as if one ran after another."
    case .w7:
      "Each call is all or nothing: one that throws leaves its transaction as it was."
    case .r1:
      "A fetch reads one page."
    case .r1a:
      "Inside a transaction it reads all, and the outer repository refuses to be used."
    case .r2:
      "A result shows one moment, for as long as it lives."
    case .r3:
      "It is a collection as the standard library documents one; `count` decodes nothing; threads may "
        + "share it."
    case .r4:
      "The throwing routes throw failures that come later, and never skip them."
    case .r5:
      "A read that was interrupted (`ReadInterruption`) throws the interruption's error before it "
        + "examines another thousand records or index entries."
    case .e1:
      "If a context does not support a model, every call with that model throws `incompatibleContext`."
    case .e2:
      "Every error is a `PersistenceError`."
    case .e3:
      "A name or key path that is not a stored field throws `unknownField`."
    case .e4:
      "A declaration that the store cannot be mapped or changed to throws `schemaMismatch`, with all "
        + "differences."
    case .e5:
      "Each kind of broken file or medium has its own error."
    case .e6:
      "Names and keys may contain any text. Engines treat it as data, never as SQL or as a path."
    case .e7:
      "A store that cannot grow throws `storeFull`."
    case .e8:
      "If another program removes or replaces the files of an open store, no write is acknowledged that "
        + "the store at the path does not hold."
    case .c1:
      "Contexts, repositories and results are `Sendable`: threads and tasks may share them."
    case .c2:
      "What one context commits, the others know at their next call: records, models and the values that "
        + "unique indexes guard."
    case .c3:
      "Contexts leave nothing behind."
    case .u1:
      "An observer gets the results of its query now, and again after each commit that can affect them, with "
        + "the changed keys. It misses no commit, sees none twice, and sees no change that was rolled back."
    case .u2:
      "Observers also learn of commits of other processes, without their keys."
    case .s1:
      "A declaration that matches the store, or that the store can be mapped to, reads and writes as if "
        + "the store were written with it."
    case .s2:
      "Records from before a field have its fill, alike in `find`, predicates, orders, aggregates and "
        + "indexes."
    case .s3:
      "A name in a model keeps its meaning: no later field or model takes the earlier name of another, or "
        + "of a removed one."
    case .s4:
      "The store remembers what declarations say of the past, even if it never contained it."
    case .s5:
      "All changes of an opening are one transaction."
    case .s6:
      "Opening again with the same schema writes nothing."
    case .s7:
      "`.compute` takes its sources from the store or from another `.compute`, in any order of the rules, "
        + "and is refused without them."
    case .s8:
      "Removed fields and models keep their values in the store, hidden from every declaration."
    case .s9:
      "A new index is read only when it contains every record."
    case .s10:
      "Other contexts and processes learn of a change at their next call: they are mapped, or the call "
        + "throws."
    case .s11:
      "Page tokens stay valid when fields change that are not in their condition and order."
    case .s12:
      "A store that is opened read-only is mapped and never changed: it reads as if the new fields, names "
        + "and kinds were there."
    case .l1:
      "At commit, each reference that is not nil has its record in the same store; otherwise nothing is "
        + "committed, and `brokenReference` names both."
    case .l2:
      "Deleting a record sets its referrers to nil or deletes them, and theirs, before the call returns"
    case .l3:
      "The consequences of a delete are rolled back with it, and observers get their keys."
    case .l4:
      "A reference compares and sorts as its key."
    case .l5:
      "`has`: the reference is not nil, its record exists and matches. `hasAny`: some record refers to this "
        + "one and matches. `!` is the complement"
    case .l6:
      "Through a reference, an absent record sorts as nil (O3), and ties go by the own key (O2)."
    case .l7:
      "Included records are of the result's moment (R2), and read with their page, one request a level."
    case .l8:
      "An observer of a query with related records learns of each commit to each of their models: of the "
        + "first with its keys, of the others as `.unknown`."
    case .l10:
      "No reference leaves its store: a model that refers to one that the context does not support is "
        + "`invalidSchema`."
    }
  }
}
