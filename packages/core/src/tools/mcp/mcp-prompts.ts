/** Prompts of MCP servers: texts that the person sends by name. What a server returns is content of the server, flattened to text. */
import type { GetPromptResult, Prompt } from "@modelcontextprotocol/client"
import { clip } from "../defaults.ts"
import type { ServerPrompt } from "../tool.ts"
import type { McpConnection } from "./mcp-connection.ts"
import { mcpToolName } from "./mcp-names.ts"
import { mcpOutput } from "./mcp-results.ts"

const MOST_PROMPTS = 100 // of one server: each is a line in a menu
const TEXT_CHARACTERS = 100_000

/** By name, so that the menu keeps its order. */
export function promptsOf(connection: McpConnection): readonly ServerPrompt[] {
  const taken = new Set<string>()
  const sorted = connection.prompts.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MOST_PROMPTS)
  return sorted.map((prompt) => {
    const command = mcpToolName(connection.server, prompt.name, taken)
    taken.add(command)
    return promptOf(prompt, command, connection)
  })
}

function promptOf(prompt: Prompt, command: string, connection: McpConnection): ServerPrompt {
  return {
    name: prompt.name,
    command,
    description: prompt.description ?? prompt.title ?? prompt.name,
    arguments: (prompt.arguments ?? []).map(({ name, description, required }) => ({
      name,
      isRequired: required === true,
      ...(description === undefined ? {} : { description }),
    })),
    async text(given, signal) {
      try {
        return textOf(await connection.prompt(prompt.name, given, signal))
      } catch (error) {
        const why = signal.aborted ? "interrupted" : connection.explain(error)
        throw new Error(
          `The MCP server ${connection.server} did not return its prompt ${prompt.name}: ${why}. Nothing was sent.`,
        )
      }
    },
  }
}

/** Messages in the role of the model are marked: all of them reach it as one text. */
function textOf({ messages }: GetPromptResult): string {
  const texts = messages.map(({ role, content }) => {
    const [block] = mcpOutput({ content: [content] }).content as readonly {
      readonly type: string
      readonly text?: string
    }[]
    const text = block?.text ?? `[${block?.type ?? "content"} left out: a prompt is sent as text]`
    return role === "assistant" ? `(as the assistant)\n${text}` : text
  })
  return clip(texts.join("\n\n"), TEXT_CHARACTERS)
}
