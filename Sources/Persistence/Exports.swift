// An app imports this module and nothing else of the package but its engines.
@_exported public import PersistenceCore
