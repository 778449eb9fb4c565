/** Locations of other agents' transcripts, and how one is found by id or project. Read-only. */
import { lstat, readdir, readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { isSafeId } from "@strata/core/base"
import {
  type AssistantMessage,
  isMachineText,
  isSentToModel,
  type Message,
  textOf,
  toBlocks,
  type UserMessage,
} from "@strata/core/messages"
import { companionFiles, type ImportedConversation, importTranscript } from "@strata/transcripts/import"
import type { Client, Environment } from "./clients.ts"

export const MAX_TRANSCRIPT_BYTES = 512 * 1024 * 1024 // maximum size of one transcript

/** Reads a transcript on disk; `undefined` if the file does not exist. */
export async function readTranscript(path: string): Promise<ImportedConversation | undefined> {
  const facts = await lstat(path).catch(() => undefined)
  if (!facts?.isFile() || facts.size > MAX_TRANSCRIPT_BYTES) return undefined
  const text = await readFile(path, "utf8")
  const companions = await companionFiles(path, text)
  return importTranscript({ name: path, text, companions })[0]
}

/** The transcript of a session. Ids that are unsafe in a path are rejected. */
export async function transcriptOf(client: Client, id: string, env: Environment): Promise<string | undefined> {
  const root = rootOf(client, env)
  if (root === undefined || !isSafeId(id)) return undefined
  for (const project of [".", ...(await readdir(root).catch(() => []))]) {
    for (const name of await namesIn(client, join(root, project), id)) {
      const path = join(root, project, name)
      if ((await lstat(path).catch(() => undefined))?.isFile()) return path
    }
  }
  return undefined
}

async function namesIn(client: Client, directory: string, id: string): Promise<readonly string[]> {
  if (client === "claude-code") return [`${id}.jsonl`]
  return (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(`_${id}.jsonl`))
}

/** opencode stores its sessions in a database. */
function rootOf(client: Client, env: Environment): string | undefined {
  const home = env.HOME ?? homedir()
  if (client === "opencode") return undefined
  if (client === "claude-code") return join(env.CLAUDE_CONFIG_DIR ?? join(home, ".claude"), "projects")
  return env.PI_CODING_AGENT_SESSION_DIR ?? join(env.PI_CODING_AGENT_DIR ?? join(home, ".pi", "agent"), "sessions")
}

/** Messages and tool use, without the client's notes about its own commands. */
export function isTalk(line: Message): line is UserMessage | AssistantMessage {
  if (line.type === "assistant") return isSentToModel(line)
  return line.type === "user" && !line.isMeta && !isMachineText(textOf(toBlocks(line.message.content)))
}

export const isSummary = (line: Message): boolean => line.type === "user" && line.isCompactSummary === true
