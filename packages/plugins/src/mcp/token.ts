/** The token of the HTTP server: created once and stored in a file that only the user can read, so that client settings stay valid. */
import { randomBytes } from "node:crypto"
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { StrataError } from "@strata/core/base"
import { DIRECTORY_MODE, FILE_MODE, strataDirectory } from "@strata/core/store"
import type { Environment } from "../clients.ts"

const FILE = "mcp-token"
const BYTES = 32
const MIN_TOKEN_LENGTH = 16 // minimum length of a custom token

export interface McpToken {
  readonly token: string
  /** Path of the stored token. Absent if it comes from the environment. */
  readonly path?: string
}

export async function mcpToken(env: Environment): Promise<McpToken> {
  const given = env.STRATA_MCP_TOKEN
  if (given !== undefined && given !== "") return { token: validateToken(given, "STRATA_MCP_TOKEN") }
  const root = strataDirectory(env)
  const path = join(root, FILE)
  await mkdir(root, { recursive: true, mode: DIRECTORY_MODE })
  const made = randomBytes(BYTES).toString("base64url")
  try {
    await writeFile(path, `${made}\n`, { mode: FILE_MODE, flag: "wx" })
    return { token: made, path }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  const facts = await lstat(path)
  const isOthers = process.platform !== "win32" && (facts.mode & 0o077) !== 0
  if (!facts.isFile() || isOthers)
    throw new StrataError(
      `Other users can read ${path}. Nothing was started. Delete the file: the next start creates a new one.`,
    )
  return { token: validateToken((await readFile(path, "utf8")).trim(), path), path }
}

function validateToken(token: string, where: string): string {
  if (token.length >= MIN_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token)) return token
  throw new StrataError(
    `The token in ${where} must have at least ${MIN_TOKEN_LENGTH} characters and no spaces. Nothing was started.`,
  )
}
