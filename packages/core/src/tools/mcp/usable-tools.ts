/**
 * Which of a server's tools a model can be offered. Every request carries them, so one that the API refuses would stop the conversation,
 * and a huge one would fill the window. The others are left out and reported.
 */
import type { Tool as McpTool } from "@modelcontextprotocol/client"
import { messageOf } from "../../base/errors.ts"
import { asObjectSchema } from "../definition/object-schema.ts"

export const MOST_TOOLS = 200 // of one server
const SCHEMA_CHARACTERS = 30_000 // as JSON: some 8,000 tokens in every request
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/ // what the API accepts

export interface UsableTools {
  readonly tools: readonly McpTool[]
  /** For the person. */
  readonly problems: readonly string[]
}

/** By name: the same server gives the same list. */
export function usableTools(server: string, listed: readonly McpTool[]): UsableTools {
  const byName = new Map(listed.map((tool) => [tool.name, tool])) // a name listed twice is one tool
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const judged = sorted.map((tool) => ({ tool, why: whyNot(tool) }))
  const usable = judged.filter(({ why }) => why === undefined).map(({ tool }) => tool)
  const left = usable.length - MOST_TOOLS
  return {
    tools: usable.slice(0, MOST_TOOLS),
    problems: [
      ...judged.flatMap(({ tool, why }) =>
        why === undefined ? [] : [`The tool ${short(tool.name)} of the MCP server ${server} is left out: ${why}`],
      ),
      ...(left > 0
        ? [`The MCP server ${server} offers ${usable.length} tools. The last ${left} by name are left out.`]
        : []),
    ].slice(0, MOST_PROBLEMS),
  }
}

const MOST_PROBLEMS = 10 // of one server
const NAME_CHARACTERS = 80

const short = (name: string) => JSON.stringify(name.slice(0, NAME_CHARACTERS).toWellFormed())

function whyNot({ name, inputSchema }: McpTool): string | undefined {
  if (name === "") return "it has no name"
  const size = JSON.stringify(inputSchema).length
  if (size > SCHEMA_CHARACTERS) return `its input schema has ${size} characters, and ${SCHEMA_CHARACTERS} are allowed`
  try {
    const { properties = {} } = asObjectSchema(inputSchema)
    const odd = Object.keys(properties as object).find((property) => !PROPERTY_NAME.test(property))
    return odd === undefined ? undefined : `its input has the property ${short(odd)}, which no request can carry`
  } catch (error) {
    return messageOf(error)
  }
}
