/** Counts sessions that Claude Code has deleted: it removes old transcripts, and its history still lists them. */
import { join } from "node:path"
import { readPlainFile } from "@strata/core/base"
import type { Environment } from "@strata/transcripts"
import { getNumber, getObject, getString, jsonLines, parseObject } from "@strata/transcripts/import"

const DEFAULT_DAYS = 30 // default of `cleanupPeriodDays`
const MAX_BYTES = 64 * 1024 * 1024

export interface DeletedSessions {
  /** Days after which Claude Code deletes a transcript. */
  readonly days: number
  /** Number of sessions in its history. */
  readonly named: number
  /** Number of those without a transcript. */
  readonly gone: number
}

/** Compares the history with the found transcripts in `files`. `undefined` if Claude Code is not used here. */
export async function findDeletedSessions(
  { env, home }: { readonly env: Environment; readonly home: string },
  files: Iterable<string>,
): Promise<DeletedSessions | undefined> {
  const directory = env.CLAUDE_CONFIG_DIR || join(home, ".claude")
  const [settings, history] = await Promise.all([
    readTextIfExists(join(directory, "settings.json")),
    readTextIfExists(join(directory, "history.jsonl")),
  ])
  const there = new Set([...files].map((path) => /([^/\\]+)\.jsonl$/.exec(path)?.[1]))
  if (settings === undefined && history === undefined && there.size === 0) return undefined
  const set = getNumber(parseObject(settings ?? ""), "cleanupPeriodDays")
  const named = new Set<string>()
  for (const { object } of jsonLines(history ?? "")) {
    const id = getString(object, "sessionId") ?? getString(getObject(object, "session"), "id")
    if (id !== undefined) named.add(id)
  }
  const gone = [...named].filter((id) => !there.has(id)).length
  return { days: set ?? DEFAULT_DAYS, named: named.size, gone }
}

const readTextIfExists = async (path: string): Promise<string | undefined> =>
  (await readPlainFile(path, MAX_BYTES).catch(() => undefined))?.toString("utf8")
