/** Makes a value when it is first needed, and keeps it. For tables that take long to make: a conversation opens without them. */
export function madeOnce<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
