/**
 * A schema is a function that checks a value and returns the first problem, with the API's messages and paths (which
 * come from Pydantic). It converts nothing and fills in no defaults.
 */

export interface Issue {
  readonly path: string
  readonly message: string
}

export type Schema = (value: unknown, path: string) => Issue | undefined

export interface Field {
  readonly schema: Schema
  readonly presence: "required" | "optional" | "nullable"
}

export type Fields = Readonly<Record<string, Schema | Field>>

const MAX_DEPTH = 200 // levels; deeper free-form values are refused, as by any JSON parser with a limit

const fail = (path: string, message: string): Issue => ({ path, message })
const join = (path: string, key: string | number) => (path === "" ? `${key}` : `${path}.${key}`)

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A field that may be absent. */
export const optional = (schema: Schema): Field => ({ schema, presence: "optional" })
/** A field that may be absent or null. */
export const nullable = (schema: Schema): Field => ({ schema, presence: "nullable" })

interface StringLimits {
  readonly pattern?: string
  readonly min?: number
  readonly max?: number
}

export function string({ pattern, min = 0, max = Number.POSITIVE_INFINITY }: StringLimits = {}): Schema {
  const expression = pattern === undefined ? undefined : new RegExp(pattern)
  return (value, path) => {
    if (typeof value !== "string") return fail(path, "Input should be a valid string")
    if (value.length < min) return fail(path, `String should have at least ${plural(min, "character")}`)
    if (value.length > max) return fail(path, `String should have at most ${plural(max, "character")}`)
    if (expression && !expression.test(value)) return fail(path, `String should match pattern '${pattern}'`)
    return undefined
  }
}

export const boolean: Schema = (value, path) =>
  typeof value === "boolean" ? undefined : fail(path, "Input should be a valid boolean")

interface NumberLimits {
  readonly min?: number
  readonly max?: number
}

export const integer = (limits: NumberLimits = {}): Schema => numeric("a valid integer", Number.isInteger, limits)
export const number = (limits: NumberLimits = {}): Schema => numeric("a valid number", Number.isFinite, limits)

function numeric(kind: string, fits: (value: unknown) => boolean, { min, max }: NumberLimits): Schema {
  return (value, path) => {
    if (typeof value !== "number" || !fits(value)) return fail(path, `Input should be ${kind}`)
    if (min !== undefined && value < min) return fail(path, `Input should be greater than or equal to ${min}`)
    if (max !== undefined && value > max) return fail(path, `Input should be less than or equal to ${max}`)
    return undefined
  }
}

export function oneOf(...allowed: readonly string[]): Schema {
  const names = allowed.map((name) => `'${name}'`)
  const list = names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`
  return (value, path) => (allowed.some((name) => name === value) ? undefined : fail(path, `Input should be ${list}`))
}

/** Any JSON value that is not nested too deeply. */
export const anything: Schema = (value, path) =>
  nestsDeeperThan(value, MAX_DEPTH) ? fail(path, "Input is nested too deeply") : undefined

function nestsDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => nestsDeeperThan(inner, levels - 1))
}

/** An object whose keys the client chooses, such as a JSON schema. */
export const dictionary =
  (schema: Schema = anything): Schema =>
  (value, path) => {
    if (!isRecord(value)) return fail(path, "Input should be a valid dictionary")
    return firstIssue(Object.entries(value), ([key, inner]) => schema(inner, join(path, key)))
  }

export const list =
  (schema: Schema, { max = Number.POSITIVE_INFINITY }: { max?: number } = {}): Schema =>
  (value, path) => {
    if (!Array.isArray(value)) return fail(path, "Input should be a valid list")
    if (value.length > max)
      return fail(path, `List should have at most ${max} items after validation, not ${value.length}`)
    return firstIssue(value, (item, index) => schema(item, join(path, index)))
  }

/** An object with exactly these fields. Missing and extra fields are refused. */
export function object(fields: Fields): Schema {
  const known = Object.entries(fields).map(([name, field]) => ({
    name,
    ...(typeof field === "function" ? { schema: field, presence: "required" as const } : field),
  }))
  const names = new Set(known.map(({ name }) => name))
  return (value, path) => {
    if (!isRecord(value)) return fail(path, "Input should be a valid dictionary or object to extract fields from")
    const wrong = firstIssue(known, ({ name, schema, presence }) => {
      const inner = value[name]
      if (inner === undefined) return presence === "required" ? fail(join(path, name), "Field required") : undefined
      if (inner === null && presence === "nullable") return undefined
      return schema(inner, join(path, name))
    })
    if (wrong) return wrong
    const extra = Object.keys(value).find((key) => !names.has(key))
    return extra === undefined ? undefined : fail(join(path, extra), "Extra inputs are not permitted")
  }
}

interface TagOptions {
  /** The field that holds the tag. */
  readonly by?: string
  /** The tag of an object without one. */
  readonly fallback?: string
}

/** A choice of objects by tag. The tag becomes part of the path: `thinking.adaptive.block_binding`. */
export function tagged(variants: Readonly<Record<string, Fields>>, { by = "type", fallback }: TagOptions = {}): Schema {
  const schemas = new Map(
    Object.entries(variants).map(([tag, fields]) => [tag, object({ [by]: optional(anything), ...fields })]),
  )
  const expected = [...schemas.keys()].sort().map((tag) => `'${tag}'`)
  return (value, path) => {
    if (!isRecord(value)) return fail(path, "Input should be a valid dictionary or object to extract fields from")
    const tag = value[by] ?? fallback
    if (tag === undefined) return fail(path, `Unable to extract tag using discriminator '${by}'`)
    const schema = typeof tag === "string" ? schemas.get(tag) : undefined
    if (schema) return schema(value, join(path, tag as string))
    const message = `Input tag '${shown(tag)}' found using '${by}' does not match any of the expected tags: ${expected.join(", ")}`
    return fail(path, message)
  }
}

/** A string, or a value that fits `schema`. */
export const stringOr =
  (schema: Schema): Schema =>
  (value, path) =>
    typeof value === "string" ? undefined : schema(value, path)

function firstIssue<T>(items: Iterable<T>, check: (item: T, index: number) => Issue | undefined): Issue | undefined {
  let index = 0
  for (const item of items) {
    const issue = check(item, index++)
    if (issue) return issue
  }
  return undefined
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`
const shown = (tag: unknown) => (typeof tag === "string" ? tag.slice(0, 100) : JSON.stringify(tag).slice(0, 100))
