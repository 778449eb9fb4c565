/**
 * Selects the usable tools of a server. Every request contains them, so one that the API refuses would block the conversation, and a huge
 * one would fill the window. Unusable tools are omitted and reported individually.
 */
import type { Tool as McpTool } from "@modelcontextprotocol/client"
import { errorMessage } from "../../../base/errors.ts"
import { escapeInvisible } from "../../../base/text.ts"
import type { JsonSchema } from "../../../messages/tool-input.ts"
import { asObjectSchema } from "../../../tools/definition/object-schema.ts"

export const MAX_TOOLS = 200 // per server
const SCHEMA_CHARACTERS = 30_000 // as JSON, about 8,000 tokens in every request
const MAX_DEPTH = 50 // nesting levels of a schema
const MAX_NAME = 500 // the API accepts 64 characters; longer names are cut and get a hash
const MAX_TEXT = 10_000 // of a description; the rest is never displayed
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/ // names that the API accepts
const MAX_PROBLEMS = 10 // per server
const NAME_CHARACTERS = 80

export interface UsableTools {
  readonly tools: readonly McpTool[]
  /** Sentences for the user. */
  readonly problems: readonly string[]
}

/**
 * The usable tools sorted by name, so that the same server gives the same list. `leftOut`: sentences about tools that were already omitted.
 */
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

export type ParsedTool =
  | { readonly state: "usable"; readonly tool: McpTool }
  /** `name` is escaped for terminals. */
  | { readonly state: "left out"; readonly name: string; readonly why: string }

/** Parses a listed tool and ignores unknown fields. */
export function parseTool(given: unknown): ParsedTool {
  const { name, title, description, inputSchema, annotations } = recordOf(given) ?? {}
  const leftOut = (why: string): ParsedTool => ({ state: "left out", name: displayName(name), why })
  if (typeof name !== "string" || name.trim() === "") return leftOut("it has no name")
  if (name.length > MAX_NAME) return leftOut(`its name has ${name.length} characters`)
  const schema = recordOf(inputSchema)
  if (!schema) return leftOut("its input schema is not an object")
  try {
    const why = schemaProblem(schema)
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
    return leftOut(errorMessage(error))
  }
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

const textOf = (text: unknown): string => String(text).slice(0, MAX_TEXT).toWellFormed()

/** Escapes a name for terminals. */
export const displayName = (name: unknown): string =>
  typeof name === "string"
    ? escapeInvisible(JSON.stringify(name.slice(0, NAME_CHARACTERS).toWellFormed()))
    : "without a name"

function schemaProblem(schema: JsonSchema): string | undefined {
  if (isDeep(schema)) return `its input schema is nested more than ${MAX_DEPTH} levels deep`
  const size = JSON.stringify(schema).length
  if (size > SCHEMA_CHARACTERS) return `its input schema has ${size} characters, and ${SCHEMA_CHARACTERS} are allowed`
  const { properties = {} } = asObjectSchema(schema)
  if (!recordOf(properties)) return "the properties of its input are not an object"
  const odd = Object.keys(properties as object).find((name) => !PROPERTY_NAME.test(name) || name === "__proto__")
  return odd === undefined ? undefined : `its input has the property ${displayName(odd)}, which no request can carry`
}

/** Whether a schema is nested too deeply. Iterative, because recursion on a hostile schema would overflow the stack. */
function isDeep(schema: unknown): boolean {
  let level: unknown[] = [schema]
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const next: unknown[] = []
    for (const value of level)
      if (typeof value === "object" && value !== null) for (const item of Object.values(value)) next.push(item)
    if (next.length === 0) return false
    level = next
  }
  return true
}
