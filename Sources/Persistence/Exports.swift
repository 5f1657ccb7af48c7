// An app imports this module and the modules of its engines, and nothing else of the package.
@_exported public import PersistenceCore
