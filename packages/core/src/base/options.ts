/** Checks the options of a public function. A wrong, missing or misspelled option is reported in one sentence that names it. */
import { StrataError } from "./errors.ts"

/** An invalid option. Nothing was opened or written. */
export class InvalidOptionError extends StrataError {
  static override readonly code: string = "invalid-option"
  override readonly name = "InvalidOptionError"
  readonly option: string

  constructor(option: string, message: string) {
    super(message)
    this.option = option
  }
}

export interface OptionRule {
  /** Completes the sentence "must be …". */
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  readonly required?: boolean
}

export type OptionRules<Options> = { readonly [K in keyof Required<Options>]: OptionRule }

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)

/** Rules for common kinds of options. */
export const anOption = {
  number: { expected: "a number, 0 or more", accepts: (value) => typeof value === "number" && value >= 0 },
  text: { expected: "a text", accepts: (value) => typeof value === "string" },
  filledText: {
    expected: "a text that is not empty",
    accepts: (value) => typeof value === "string" && value.trim() !== "",
  },
  switch: { expected: "true or false", accepts: (value) => typeof value === "boolean" },
  object: { expected: "an object", accepts: isObject },
  list: { expected: "a list", accepts: Array.isArray },
  switchOrFunction: {
    expected: "true, false or a function",
    accepts: (value) => typeof value === "boolean" || typeof value === "function",
  },
  callback: { expected: "a function", accepts: (value) => typeof value === "function" },
} as const satisfies Record<string, OptionRule>

/** A rule for an object that implements a port, recognized by its methods. */
export const objectWithMethods = (expected: string, ...methods: readonly string[]): OptionRule => ({
  expected,
  accepts: (value) => {
    const given = (value ?? {}) as Readonly<Record<string, unknown>>
    return methods.every((method) => typeof given[method] === "function")
  },
})

/** Rules for the ports that most functions take. */
export const aPort = {
  store: objectWithMethods("a store, such as memoryStore()", "open", "list", "memories", "feed"),
  clock: objectWithMethods("an object with a function now()", "now"),
  ids: objectWithMethods("an object with a function uuid()", "uuid"),
} as const satisfies Record<string, OptionRule>

export const oneOf = (...values: readonly string[]): OptionRule => ({
  expected: `one of ${values.map((value) => `"${value}"`).join(", ")}`,
  accepts: (value) => values.includes(value as string),
})

export const required = (rule: OptionRule): OptionRule => ({ ...rule, required: true })

/** `call` is the name of the called function. An option that is `undefined` counts as missing. */
export function checkOptions<Options>(call: string, options: unknown, rules: OptionRules<Options>): void {
  if (!isObject(options))
    throw new InvalidOptionError("options", `${call}() takes one object with options, not ${describe(options)}.`)
  const given = options as Readonly<Record<string, unknown>>
  const known = rules as Readonly<Record<string, OptionRule>>
  for (const name of Object.keys(given)) if (!Object.hasOwn(known, name)) throw unknownOption(call, name, known)
  for (const [name, rule] of Object.entries(known)) {
    const value = given[name]
    if (value === undefined && rule.required)
      throw new InvalidOptionError(name, `${call}() needs the option "${name}": ${rule.expected}.`)
    if (value !== undefined && !rule.accepts(value))
      throw new InvalidOptionError(
        name,
        `The option "${name}" of ${call}() must be ${rule.expected}, not ${describe(value)}.`,
      )
  }
}

function unknownOption(call: string, name: string, rules: Readonly<Record<string, OptionRule>>): InvalidOptionError {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, "")
  const meant = Object.keys(rules).find((known) => {
    const [a, b] = [plain(known), plain(name)]
    return a === b || (b.length > 2 && (a.startsWith(b) || b.startsWith(a) || isTypo(a, b)))
  })
  const hint = meant ? `Did you mean "${meant}"?` : `It takes ${Object.keys(rules).join(", ")}.`
  return new InvalidOptionError(name, `${call}() has no option "${name}". ${hint}`)
}

/** Whether two names differ by one extra, missing, wrong or swapped letter. */
function isTypo(a: string, b: string): boolean {
  if (b.length < 4) return false
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const [restA, restB] = [a.slice(same), b.slice(same)]
  return (
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    (restA.slice(2) === restB.slice(2) && restA[0] === restB[1] && restA[1] === restB[0])
  )
}

/** Describes a value for an error message: `5`, `the text "a"`, `a list`. */
export function describe(value: unknown): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "string")
    return value === "" ? "an empty text" : `the text ${JSON.stringify(value.slice(0, 40))}`
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return typeof value === "object" ? "an object" : typeof value === "undefined" ? "nothing" : `a ${typeof value}`
}
