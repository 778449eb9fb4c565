/**
 * Which of a server's tools a model can be offered. Every request carries them, so one that the API refuses would stop the conversation,
 * and a huge one would fill the window. The others are left out and reported, one by one: a bad tool costs only itself.
 */
import type { Tool as McpTool } from "@modelcontextprotocol/client"
import { messageOf } from "../../../base/errors.ts"
import { escaped } from "../../../base/text.ts"
import type { JsonSchema } from "../../../messages/tool-input.ts"
import { asObjectSchema } from "../../../tools/definition/object-schema.ts"

export const MAX_TOOLS = 200 // of one server
const SCHEMA_CHARACTERS = 30_000 // as JSON: some 8,000 tokens in every request
const DEEPEST = 50 // levels of a schema
const MAX_NAME = 500 // the API accepts 64 characters; longer names are cut and marked
const KEPT_CHARACTERS = 10_000 // of a description: the rest is never shown
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/ // what the API accepts
const MAX_PROBLEMS = 10 // of one server
const NAME_CHARACTERS = 80

export interface UsableTools {
  readonly tools: readonly McpTool[]
  /** For the person. */
  readonly problems: readonly string[]
}

/** By name: the same server gives the same list. `leftOut`: what reading the list has left out already. */
export function usableTools(server: string, listed: readonly McpTool[], leftOut: readonly string[] = []): UsableTools {
  const sorted = listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const left = sorted.length - MAX_TOOLS
  const unnamed = leftOut.length - MAX_PROBLEMS
  return {
    tools: sorted.slice(0, MAX_TOOLS),
    problems: [
      ...leftOut.slice(0, MAX_PROBLEMS),
      ...(unnamed > 0 ? [`${unnamed} more tools of the MCP server ${server} are left out for such reasons.`] : []),
      ...(left > 0
        ? [`The MCP server ${server} offers ${sorted.length} tools. The last ${left} by name are left out.`]
        : []),
    ],
  }
}

export type ReadTool =
  | { readonly state: "usable"; readonly tool: McpTool }
  /** `name` is safe on a screen. */
  | { readonly state: "left out"; readonly name: string; readonly why: string }

/** Takes what we use of a listed tool, whatever else a server sends with it. */
export function readTool(given: unknown): ReadTool {
  const { name, title, description, inputSchema, annotations } = recordOf(given) ?? {}
  const leftOut = (why: string): ReadTool => ({ state: "left out", name: shownName(name), why })
  if (typeof name !== "string" || name.trim() === "") return leftOut("it has no name")
  if (name.length > MAX_NAME) return leftOut(`its name has ${name.length} characters`)
  const schema = recordOf(inputSchema)
  if (!schema) return leftOut("its input schema is not an object")
  try {
    const why = whyNot(schema)
    if (why !== undefined) return leftOut(why)
    const { readOnlyHint, title: shown } = recordOf(annotations) ?? {}
    const named = [title, shown].find((text) => typeof text === "string")
    return {
      state: "usable",
      tool: {
        name,
        inputSchema: asObjectSchema(schema),
        ...(named === undefined ? {} : { title: textOf(named) }),
        ...(typeof description === "string" ? { description: textOf(description) } : {}),
        annotations: { readOnlyHint: readOnlyHint === true },
      } as McpTool,
    }
  } catch (error) {
    return leftOut(messageOf(error))
  }
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

const textOf = (text: unknown): string => String(text).slice(0, KEPT_CHARACTERS).toWellFormed()

/** Safe on a screen. */
export const shownName = (name: unknown): string =>
  typeof name === "string" ? escaped(JSON.stringify(name.slice(0, NAME_CHARACTERS).toWellFormed())) : "without a name"

function whyNot(schema: JsonSchema): string | undefined {
  if (isDeep(schema)) return `its input schema is nested more than ${DEEPEST} levels deep`
  const size = JSON.stringify(schema).length
  if (size > SCHEMA_CHARACTERS) return `its input schema has ${size} characters, and ${SCHEMA_CHARACTERS} are allowed`
  const { properties = {} } = asObjectSchema(schema)
  if (!recordOf(properties)) return "the properties of its input are not an object"
  const odd = Object.keys(properties as object).find((name) => !PROPERTY_NAME.test(name) || name === "__proto__")
  return odd === undefined ? undefined : `its input has the property ${shownName(odd)}, which no request can carry`
}

/** Level by level: recursion on a hostile schema would overflow the stack. */
function isDeep(schema: unknown): boolean {
  let level: unknown[] = [schema]
  for (let depth = 0; depth <= DEEPEST; depth++) {
    const next: unknown[] = []
    for (const value of level)
      if (typeof value === "object" && value !== null) for (const item of Object.values(value)) next.push(item)
    if (next.length === 0) return false
    level = next
  }
  return true
}
