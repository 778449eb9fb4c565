/** Names of MCP tools: `mcp__<server>__<tool>`, within the characters and length that the API accepts. */
import { hash } from "node:crypto"

const MAX_CHARACTERS = 64
const HASH_CHARACTERS = 8

/** Creates a tool name. The same server and tool always give the same name. If it is taken or too long, a hash makes it unique. */
export function mcpToolName(server: string, tool: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = `mcp__${clean(server)}__${clean(tool)}`
  if (plain.length <= MAX_CHARACTERS && !taken.has(plain)) return plain
  for (let attempt = 0; ; attempt++) {
    const hashed = withHash(plain, attempt === 0 ? [server, tool] : [server, tool, attempt])
    if (!taken.has(hashed)) return hashed
  }
}

function withHash(plain: string, hashInput: readonly unknown[]): string {
  const suffix = hash("sha256", JSON.stringify(hashInput), "hex").slice(0, HASH_CHARACTERS)
  return `${plain.slice(0, MAX_CHARACTERS - HASH_CHARACTERS - 1)}_${suffix}`
}

const clean = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, "_")

/** Name of a server in rules, which cover everything that the server offers. */
export const mcpServerName = (server: string): string => `mcp__${clean(server)}`
