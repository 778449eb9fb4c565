/**
 * Finds the transcripts of sub-agents where Claude Code stores them: in `<session>/subagents/`, or next to the session in older versions.
 */
import { lstat, readdir, readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { isSafeId } from "@strata/core/base"
import type { ExternalFile } from "./importer.ts"

const MAX_AGENTS = 1_000
const MAX_BYTES = 256 * 1024 * 1024 // per transcript
const AGENT_ID = /"agentId":\s*"([^"]+)"/g

/** `content` is the transcript's text, or its lines. */
export async function companionFiles(
  file: string,
  content: string | Iterable<string>,
): Promise<readonly ExternalFile[]> {
  const folder = join(dirname(file), basename(file, ".jsonl"), "subagents")
  const inFolder = (await readdir(folder).catch(() => [])).filter((name) =>
    /^agent-.*\.(?:jsonl|meta\.json)$/.test(name),
  )
  const ids = new Set<string>()
  const lines = typeof content === "string" ? [content] : content // a string is also an iterable of its characters
  for (const line of lines) for (const [, id] of line.matchAll(AGENT_ID)) if (isSafeId(id!)) ids.add(id!)
  const nextToTranscript = [...ids]
    .map((id) => `agent-${id}.jsonl`)
    .filter((name) => name !== basename(file) && !inFolder.includes(name))
  const paths = [
    ...inFolder
      .toSorted()
      .slice(0, 2 * MAX_AGENTS)
      .map((name) => join(folder, name)),
    ...nextToTranscript.slice(0, MAX_AGENTS).map((name) => join(dirname(file), name)),
  ]
  const files: ExternalFile[] = []
  for (const path of paths) {
    const found = await readPlainFile(path).catch(() => undefined)
    if (found !== undefined) files.push({ name: basename(path), text: found })
  }
  return files
}

/** Reads regular files of limited size only: a pipe would block, and a link could lead anywhere. */
async function readPlainFile(path: string): Promise<string | undefined> {
  const facts = await lstat(path)
  return facts.isFile() && facts.size <= MAX_BYTES ? readFile(path, "utf8") : undefined
}
