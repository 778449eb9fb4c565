/** Replaces half characters (lone surrogates) in every text of a JSON value. The API refuses a request that contains one. */

/** The value itself if it has none. */
export function wellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (fixed(value) as T)
}

/** Nearly every value is, so this is looked at first and allocates nothing but the keys. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed()
  if (typeof value !== "object" || value === null) return true
  if (Array.isArray(value)) return value.every(isWellFormed)
  for (const key of Object.keys(value))
    if (!key.isWellFormed() || !isWellFormed((value as Readonly<Record<string, unknown>>)[key])) return false
  return true
}

function fixed(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed()
  if (Array.isArray(value)) {
    const items = value.map(fixed)
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (typeof value !== "object" || value === null) return value
  let copy: Record<PropertyKey, unknown> | undefined
  for (const [key, item] of Object.entries(value)) {
    const [name, inner] = [key.toWellFormed(), fixed(item)]
    if (name === key && inner === item) continue
    copy ??= { ...value } as Record<PropertyKey, unknown>
    if (name !== key) delete copy[key]
    Object.defineProperty(copy, name, { value: inner, enumerable: true, writable: true, configurable: true })
  }
  return copy ?? value
}
