// The order of values and names is part of the contract.
@_exported public import PersistencePrimitives
