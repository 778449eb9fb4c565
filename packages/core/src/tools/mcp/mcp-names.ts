/** Names under which the tools of MCP servers are offered: `mcp__<server>__<tool>`, in the letters and the length the API takes. */
import { hash } from "node:crypto"

const MOST_CHARACTERS = 64
const HASH_CHARACTERS = 8

/** The same two names always give the same one, unless it is taken: then, as for one that is too long, their hash tells it apart. */
export function mcpToolName(server: string, tool: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = `mcp__${clean(server)}__${clean(tool)}`
  if (plain.length <= MOST_CHARACTERS && !taken.has(plain)) return plain
  const mark = hash("sha256", JSON.stringify([server, tool]), "hex").slice(0, HASH_CHARACTERS)
  return `${plain.slice(0, MOST_CHARACTERS - HASH_CHARACTERS - 1)}_${mark}`
}

const clean = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, "_")
