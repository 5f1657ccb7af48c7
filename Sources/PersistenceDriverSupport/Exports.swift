// A driver's author imports this module and nothing else.
@_exported public import PersistenceDriver
