/**
 * Shapes describe JSON values. A shape returns the first flaw of a value, or nothing. Paths are built only when there is a flaw, so
 * checking a good value costs little.
 */

export interface Flaw {
  /** Where in the value: `source.data`, `content[2].text`, or empty for the value itself. */
  readonly at: string
  /** `missing`: a required field is not there. `extra`: a field that no one knows. `wrong`: anything else. */
  readonly kind: "missing" | "extra" | "wrong"
  /** For `wrong`: what it must be, as in "must be a text". */
  readonly must: string
}

export type Shape = (value: unknown) => Flaw | undefined

export interface Optional {
  readonly optional: Shape
}

export type FieldShapes = Readonly<Record<string, Shape | Optional>>

export const wrong = (must: string, at = ""): Flaw => ({ at, kind: "wrong", must })

/** JSON deeper than this is refused. Servers stop reading at some depth, and so do we, far below the end of the stack. */
export const DEEPEST = 100 // levels

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export interface TextLimits {
  readonly pattern?: RegExp
  readonly least?: number
  readonly most?: number
}

export function text({ pattern, least = 0, most = Number.POSITIVE_INFINITY }: TextLimits = {}): Shape {
  return (value) => {
    if (typeof value !== "string") return wrong("a text")
    if (value.length < least) return wrong("a text that is not empty")
    if (value.length > most) return wrong(`a text of at most ${most} characters`)
    return pattern && !pattern.test(value) ? wrong(`a text that matches ${pattern.source}`) : undefined
  }
}

export const flag: Shape = (value) => (typeof value === "boolean" ? undefined : wrong("true or false"))

export const whole = (least = Number.MIN_SAFE_INTEGER): Shape => {
  const must = least === Number.MIN_SAFE_INTEGER ? "a whole number" : `a whole number of at least ${least}`
  return (value) => (Number.isInteger(value) && (value as number) >= least ? undefined : wrong(must))
}

export const oneOf = (...allowed: readonly string[]): Shape => {
  const must = allowed.length === 1 ? JSON.stringify(allowed[0]) : `one of ${allowed.join(", ")}`
  return (value) => (allowed.includes(value as string) ? undefined : wrong(must))
}

/** May be left out. */
export const maybe = (shape: Shape): Optional => ({ optional: shape })
/** May be left out or null. */
export const orNull = (shape: Shape): Optional => ({ optional: (value) => (value === null ? undefined : shape(value)) })

/** Any JSON value that is not nested too deeply. */
export const json: Shape = (value) =>
  isDeeperThan(DEEPEST, value) ? wrong(`nested at most ${DEEPEST} levels deep`) : undefined

export const record: Shape = (value) => (isRecord(value) ? json(value) : wrong("an object"))

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const key of Object.keys(value)) {
    if (isDeeperThan(levels - 1, (value as Record<string, unknown>)[key])) return true
  }
  return false
}

/** A list of anything. Its items have rules of their own. */
export const list: Shape = (value) => (Array.isArray(value) ? undefined : wrong("a list"))

export const listOf =
  (shape: Shape, must = "a list"): Shape =>
  (value) => {
    if (!Array.isArray(value)) return wrong(must)
    for (const [index, item] of value.entries()) {
      const flaw = shape(item)
      if (flaw) return under(`[${index}]`, flaw)
    }
    return undefined
  }

/** A text, or a value of the shape. */
export const textOr =
  (shape: Shape): Shape =>
  (value) =>
    typeof value === "string" ? undefined : shape(value)

/** An object with these fields, and no others if it is closed. A field that is `undefined` counts as left out, as in JSON. */
export function fields(shapes: FieldShapes, extent: "closed" | "open" = "closed"): Shape {
  const known = Object.entries(shapes)
  return (value) => {
    if (!isRecord(value)) return wrong("an object")
    for (const [name, shape] of known) {
      const field = Object.hasOwn(value, name) ? value[name] : undefined
      if (field === undefined) {
        if (typeof shape === "function") return { at: name, kind: "missing", must: "" }
        continue
      }
      const flaw = typeof shape === "function" ? shape(field) : shape.optional(field)
      if (flaw) return under(name, flaw)
    }
    if (extent === "open") return undefined
    const extra = Object.keys(value).find((name) => !Object.hasOwn(shapes, name) && value[name] !== undefined)
    return extra === undefined ? undefined : { at: extra, kind: "extra", must: "" }
  }
}

/** A choice of objects by their `type`. */
export function tagged(variants: Readonly<Record<string, FieldShapes>>, extent?: "closed" | "open"): Shape {
  const shapes = new Map(
    Object.entries(variants).map(([type, shape]) => [type, fields({ type: oneOf(type), ...shape }, extent)]),
  )
  const types = oneOf(...shapes.keys())
  return (value) => {
    if (!isRecord(value)) return wrong("an object")
    if (value.type === undefined) return { at: "type", kind: "missing", must: "" }
    const shape = shapes.get(value.type as string)
    if (shape) return shape(value)
    return under("type", types(value.type) ?? wrong("a text"))
  }
}

function under(name: string, flaw: Flaw): Flaw {
  const at = flaw.at === "" || flaw.at.startsWith("[") ? `${name}${flaw.at}` : `${name}.${flaw.at}`
  return { ...flaw, at }
}

/** The flaw in words that continue "block 2 …": `needs "text"`. */
export function inWords({ at, kind, must }: Flaw): string {
  if (kind === "missing") return `needs "${at}"`
  if (kind === "extra") return `has "${at}", which is not one of its fields`
  return at === "" ? `must be ${must}` : `has "${at}", which must be ${must}`
}
