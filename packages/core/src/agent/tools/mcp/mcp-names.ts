/** The names of MCP tools: `mcp__<server>__<tool>`, with the characters and the length that the API accepts. */
import { hash } from "node:crypto"

const MAX_CHARACTERS = 64
const HASH_CHARACTERS = 8

/** The same server and tool always give the same name. If it is taken or too long, a hash makes it unique. */
export function mcpToolName(server: string, tool: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = `mcp__${clean(server)}__${clean(tool)}`
  if (plain.length <= MAX_CHARACTERS && !taken.has(plain)) return plain
  for (let attempt = 0; ; attempt++) {
    const marked = withMark(plain, attempt === 0 ? [server, tool] : [server, tool, attempt])
    if (!taken.has(marked)) return marked
  }
}

function withMark(plain: string, about: readonly unknown[]): string {
  const mark = hash("sha256", JSON.stringify(about), "hex").slice(0, HASH_CHARACTERS)
  return `${plain.slice(0, MAX_CHARACTERS - HASH_CHARACTERS - 1)}_${mark}`
}

const clean = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, "_")

/** `mcp__<server>`: rules for it cover everything that the server offers. */
export const mcpServerName = (server: string): string => `mcp__${clean(server)}`
