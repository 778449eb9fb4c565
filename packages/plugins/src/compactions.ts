/** Outcomes of compactions that clients passed to Strata: a log in Strata's directory, for `strata doctor`. */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Client, Environment } from "./clients.ts"
import { pluginsDirectory } from "./plugins-directory.ts"

const FILE = "compactions.jsonl"
const MAX_LINES = 400 // above this, the older half is removed
const NEWEST = 20 // number of compactions that `strata doctor` reads

/**
 * `left`: the client compacted itself, because Strata's text would not have been smaller. `fell-back`: the client compacted itself, because
 * Strata failed.
 */
export const COMPACTION_OUTCOMES = ["replaced", "recorded", "left", "fell-back"] as const
type CompactionOutcome = (typeof COMPACTION_OUTCOMES)[number]

export interface CompactionReport {
  readonly client: Client
  readonly session: string
  readonly outcome: CompactionOutcome
  readonly why?: string
}

export interface ClientCompaction extends CompactionReport {
  /** ISO 8601. */
  readonly at: string
}

export async function recordCompaction(
  { client, session, outcome, why }: CompactionReport,
  env: Environment,
): Promise<{ readonly noted: true }> {
  const path = join(pluginsDirectory(env), FILE)
  const note: ClientCompaction = { at: new Date().toISOString(), client, session, outcome, ...(why ? { why } : {}) }
  await mkdir(pluginsDirectory(env), { recursive: true, mode: 0o700 })
  await appendFile(path, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n")
  if (lines.length > MAX_LINES) await writeFile(path, `${lines.slice(-MAX_LINES / 2).join("\n")}\n`, { mode: 0o600 })
  return { noted: true }
}

/** The newest compactions of a client, newest last. */
export async function listClientCompactions(client: Client, env: Environment): Promise<readonly ClientCompaction[]> {
  const text = await readFile(join(pluginsDirectory(env), FILE), "utf8").catch(() => "")
  return text
    .split("\n")
    .flatMap(parseReport)
    .filter((note) => note.client === client)
    .slice(-NEWEST)
}

function parseReport(line: string): readonly ClientCompaction[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as ClientCompaction]
  } catch {
    return [] // a truncated line
  }
}
