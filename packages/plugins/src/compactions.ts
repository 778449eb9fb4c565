/** What became of each compaction that a client handed over: a line in Strata's directory, for `strata doctor`. */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Client, Environment } from "./clients.ts"
import { pluginsDirectory } from "./plugins-directory.ts"

const FILE = "compactions.jsonl"
const MAX_LINES = 400 // then the older half is removed
const NEWEST = 20 // what `strata doctor` looks at

/** `left`: the client compacted itself, because Strata's text would not have been smaller. `fell-back`: because Strata failed. */
export const OUTCOMES = ["replaced", "recorded", "left", "fell-back"] as const
type Outcome = (typeof OUTCOMES)[number]

export interface CompactedRequest {
  readonly client: Client
  readonly session: string
  readonly outcome: Outcome
  readonly why?: string
}

export interface HandedCompaction extends CompactedRequest {
  /** ISO 8601. */
  readonly at: string
}

export async function noteCompaction(
  { client, session, outcome, why }: CompactedRequest,
  env: Environment,
): Promise<{ readonly noted: true }> {
  const path = join(pluginsDirectory(env), FILE)
  const note: HandedCompaction = { at: new Date().toISOString(), client, session, outcome, ...(why ? { why } : {}) }
  await mkdir(pluginsDirectory(env), { recursive: true, mode: 0o700 })
  await appendFile(path, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n")
  if (lines.length > MAX_LINES) await writeFile(path, `${lines.slice(-MAX_LINES / 2).join("\n")}\n`, { mode: 0o600 })
  return { noted: true }
}

/** The newest compactions that a client handed over, the newest last. */
export async function handedCompactions(client: Client, env: Environment): Promise<readonly HandedCompaction[]> {
  const text = await readFile(join(pluginsDirectory(env), FILE), "utf8").catch(() => "")
  return text
    .split("\n")
    .flatMap(noteIn)
    .filter((note) => note.client === client)
    .slice(-NEWEST)
}

function noteIn(line: string): readonly HandedCompaction[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as HandedCompaction]
  } catch {
    return [] // a line that was cut off
  }
}
